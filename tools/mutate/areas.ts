export interface Area {
  files: readonly string[];
  /** The test files under tests/ that should notice a change: few and fast ones, because all of them run each time. */
  tests: readonly string[];
  /** The minimum share of mutants that must be killed, in percent. */
  minScore: number;
}

export const minOverall = 80;

/** Code that decides about money, rights and published bytes has a higher minimum than the rest. */
export const areas = {
  idempotency: {
    files: ['lib/http/idempotency.ts', 'lib/http/json-body.ts'],
    tests: ['lib/http/idempotency', 'lib/http/json-body'],
    minScore: 90,
  },
  tokens: {
    files: ['lib/auth/*.ts'],
    tests: ['lib/auth/{personal-access-tokens,access-tokens,trusted-publishers}'],
    minScore: 90,
  },
  finalizer: {
    files: ['lib/registry/{finalizing,upload-checks}.ts', 'lib/uploads/finalize-upload.ts'],
    tests: ['lib/registry/finalizing', 'functions/finalize-upload{,-floods}'],
    minScore: 90,
  },
  archives: {
    files: [
      'lib/archives/{archive-file,archive-problem,check-archive,content,directory,entry,entry-origin,extra-fields,local-header,names,reader,unpack}.ts',
    ],
    tests: ['lib/archives/{hostile-archives,check-archive,names,one-meaning,reader,streaming-unpackers}'],
    minScore: 92,
  },
  outcomes: {
    files: ['lib/providers/{call-provider,error-reply,exchange,provider-errors,retry-after}.ts'],
    tests: ['lib/providers/{call-provider,error-reply,retries,outcomes}'],
    minScore: 90,
  },
  replies: {
    files: [
      'lib/task-id.ts',
      'lib/providers/{provider-text,reply-fields,image-provider,video-provider,text-to-video,extend-video,multiframe-video}.ts',
    ],
    tests: ['lib/providers/adapters', 'lib/providers/provider-text', 'lib/providers/reply-fields'],
    minScore: 95,
  },
  keys: {
    files: ['lib/aws/{secret-store,stored-secret}.ts', 'lib/providers/provider.ts'],
    tests: ['lib/aws/stored-secret'],
    minScore: 90,
  },
  validators: {
    files: ['lib/schemas/*.ts', 'lib/validation-issues.ts'],
    tests: [
      'lib/validation-issues',
      'lib/schemas/{answers,free-form,lists,multiframe-video,paid-object,registry-requests,version-label,image-source}',
      'functions/{extend-video,multiframe-video,relight-image,text-to-video,video-switches}',
    ],
    minScore: 93,
  },
  nodes: {
    files: ['lib/registry/{nodes,publishers}.ts', 'lib/store/keys.ts'],
    tests: ['functions/update-node', 'lib/registry/nodes'],
    minScore: 95,
  },
  publishing: {
    files: [
      'lib/registry/{publishing,publishing-limits,credentials,trusts,latest-version,pending-versions}.ts',
      'lib/uploads/{object-events,upload-events,sweep-period,sweep-uploads}.ts',
    ],
    tests: [
      'lib/registry/{credentials,pending-versions,publishing,publishing-limits}',
      'lib/uploads/{sweep-extractions,sweep-uploads,upload-events}',
      'functions/publish-node-version{,-ci,-ci-rejections,-repeated}',
    ],
    minScore: 95,
  },
  reading: {
    files: [
      'lib/registry/{node-versions,records}.ts',
      'lib/store/{attribute-values,read,retries,store-errors,table,typed-read,write}.ts',
    ],
    tests: ['lib/registry/node-versions', 'lib/store/{attribute-values,read,store-errors,write}'],
    minScore: 95,
  },
  'host-nodes': {
    files: ['lib/registry/host-nodes.ts', 'lib/store/expressions.ts'],
    tests: ['functions/update-host-node', 'lib/store/expressions'],
    minScore: 95,
  },
  administration: {
    files: ['packages/admin/registry/*.ts'],
    tests: ['tools/{admin,admin-node-versions,administration}'],
    minScore: 95,
  },
  configuration: {
    files: [
      'lib/{concerns,environment,environment-values}.ts',
      'lib/aws/{credentials,endpoints,sha256}.ts',
      'lib/http/deadline.ts',
    ],
    tests: ['lib/environment', 'lib/aws/credentials', 'lib/http/deadline', 'lib/bucket/signed-upload'],
    minScore: 80,
  },
  objects: {
    files: [
      'lib/bucket/{bucket,download-url,object-keys,object-url,signed-upload}.ts',
      'lib/archives/byte-source.ts',
    ],
    tests: ['lib/bucket/{bucket,object-keys,object-url,signed-upload}', 'lib/archives/byte-source'],
    minScore: 85,
  },
  spending: {
    files: ['lib/spend/*.ts', 'lib/windows.ts', 'lib/store/nothing-sent.ts'],
    tests: ['lib/spend/*'],
    minScore: 80,
  },
  notifications: {
    files: [
      'lib/notifications/{hidden-ticket,provider-notification,receive,records,relayed-task}.ts',
      'lib/http/{provider-signature,receive-notification}.ts',
    ],
    tests: [
      'functions/receive-notification*',
      'lib/notifications/{hidden-ticket,relayed-*}',
      'lib/http/provider-signature',
    ],
    minScore: 90,
  },
  deliveries: {
    files: [
      'lib/notifications/{addresses,attempt,deliver,delivery-events,lanes,outbox,receiver-address,signature,signing-keys}.ts',
    ],
    tests: [
      'functions/deliver-notifications',
      'lib/notifications/{hostile-addresses,lanes,pinned-connections,signature}',
    ],
    minScore: 80,
  },
  extraction: {
    files: [
      'packages/host-nodes/**/*.ts',
      'lib/text-files.ts',
      'lib/archives/text-files.ts',
      'lib/registry/{extraction,host-node-entries}.ts',
      'lib/uploads/{archive-events,extract-archive,sweep-extractions}.ts',
    ],
    tests: [
      'packages/host-nodes/{language,packs,risks,source}',
      'lib/registry/{extraction,host-node-entries}',
      'lib/uploads/sweep-extractions',
      'functions/extract-host-nodes',
    ],
    minScore: 60,
  },
  boundary: {
    files: [
      'lib/{errors,http-request,json-object,log,metrics,web-address}.ts',
      'lib/http/{admit,afterwards,answer,endpoint,phases,bounded-json,log-request,request-id,unknown-route}.ts',
    ],
    tests: [
      'lib/{errors,log,http-request,metrics}',
      'lib/http/{endpoint,endpoint-idempotency,bounded-json}',
      'functions/unknown-route',
    ],
    minScore: 95,
  },
} as const satisfies Record<string, Area>;

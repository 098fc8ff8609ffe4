export interface Area {
  files: readonly string[];
  /** The test files that are to notice a change, under tests/: few and fast ones, for all of them run each time. */
  tests: readonly string[];
  /** The least share of mutants that must be killed, in per cent. */
  least: number;
}

export const leastOverall = 80;

/** What money, rights and published bytes hang on is held to more than the rest. */
export const areas = {
  idempotency: {
    files: ['lib/http/idempotency.ts', 'lib/http/json-body.ts'],
    tests: ['lib/http/idempotency', 'lib/http/json-body'],
    least: 90,
  },
  tokens: {
    files: ['lib/auth/*.ts'],
    tests: ['lib/personal-access-tokens', 'lib/access-tokens'],
    least: 90,
  },
  finaliser: {
    files: ['lib/registry/finalizing.ts', 'lib/uploads/finalize-upload.ts'],
    tests: ['lib/finalizing', 'functions/finalize-upload'],
    least: 90,
  },
  archives: {
    files: ['lib/artifacts/archive-*.ts'],
    tests: ['lib/artifacts-hostile', 'lib/artifacts-check', 'lib/archive-reader'],
    least: 92,
  },
  outcomes: {
    files: ['lib/providers/{call-provider,exchange,provider-errors,retry-after}.ts'],
    tests: ['lib/providers/call-provider', 'lib/providers/retries', 'lib/providers/outcomes'],
    least: 90,
  },
  replies: {
    files: ['lib/providers/{provider-text,reply-fields,image-provider,video-provider}.ts'],
    tests: ['lib/providers/adapters', 'lib/providers/provider-text', 'lib/providers/reply-fields'],
    least: 95,
  },
  keys: {
    files: ['lib/providers/{provider-key,secret-store}.ts'],
    tests: ['lib/providers/provider-key'],
    least: 90,
  },
  validators: {
    files: ['lib/schemas/*.ts', 'lib/validation-issues.ts'],
    tests: ['lib/{faults,media-requests,relight-requests,registry-requests,version-label}'],
    least: 93,
  },
  nodes: {
    files: ['lib/registry/{nodes,publishers,refusal,keys}.ts'],
    tests: ['functions/update-node', 'lib/nodes'],
    least: 95,
  },
  publishing: {
    files: [
      'lib/registry/{publishing,latest-version,pending-versions}.ts',
      'lib/uploads/{upload-events,sweep-uploads}.ts',
    ],
    tests: ['lib/{publishing,sweeping,upload-events}'],
    least: 95,
  },
  reading: {
    files: ['lib/registry/{node-versions,table,attribute-values}.ts'],
    tests: ['lib/{table,node-versions,attribute-values}'],
    least: 95,
  },
  'host-nodes': {
    files: ['lib/registry/{host-nodes,expressions}.ts'],
    tests: ['functions/update-host-node', 'lib/expressions'],
    least: 95,
  },
  administration: {
    files: ['lib/registry/*-administration.ts', 'lib/registry/{administration,listing}.ts'],
    tests: ['tools/{admin,admin-node-versions}', 'lib/administration'],
    least: 95,
  },
  configuration: {
    files: ['lib/{environment,environment-credentials,in-time,sha256}.ts'],
    tests: ['lib/{environment,environment-credentials,in-time,signed-upload}'],
    least: 80,
  },
  objects: {
    files: ['lib/artifacts/{bucket,byte-source,download-url,object-keys,object-url,signed-upload}.ts'],
    tests: ['lib/{artifacts-keys,bucket,byte-source,object-url,signed-upload}'],
    least: 85,
  },
  boundary: {
    files: ['lib/{endpoint,errors,http-request,log,metrics,serialized-json}.ts'],
    tests: ['lib/{endpoint,errors,log,serialized-json,http-request,metrics}'],
    least: 95,
  },
} as const satisfies Record<string, Area>;

import * as config from '../../lib/config.ts';

/*
 * The variables of each function, for serverless.yml: those of the concerns that it reads, and no others, so that what
 * calls receivers knows no provider. A test holds this list to the bundles.
 */
const stored = [config.registry];
const caller = [...stored, config.tokens];
const paid = [...caller, config.spending, config.notifications, config.relay, config.receivers];
const files = [...stored, config.bucket, config.downloads];
const video = [...paid, ...files, config.videoProvider, config.videoRules];

const concerns: Record<string, config.Concern[]> = {
  updateNode: [...caller, ...files],
  publishNodeVersion: [...caller, config.bucket, config.ci, config.publishing],
  updateHostNode: caller,
  bulkNodeVersions: files,
  relightImage: [...paid, ...files, config.imageProvider],
  textToVideo: video,
  extendVideo: video,
  multiframeVideo: video,
  receiveNotification: [
    ...stored,
    config.notifications,
    config.notificationQueue,
    config.notificationSignatures,
  ],
  deliverNotifications: [
    ...stored,
    config.bucket,
    config.notificationQueue,
    config.deliveries,
    config.receivers,
  ],
  unknownRoute: [],
  finalizeUpload: [...stored, config.bucket, config.archives],
  sweepSpending: stored,
  extractHostNodes: [...stored, config.bucket, config.extractionQueue],
  writeIndex: files,
};

/** As serverless.yml refers to a parameter, and to what stands in for one that is not given. */
function reference(parameter: string): string {
  return `\${param:${parameter}}`;
}

/** What no parameter of a deployed stage sets: its own addresses, and what only the local stage has. */
const computed: Record<string, string> = {
  AWS_ENDPOINT_URL_S3: reference('s3Url, null'),
  CI_AUDIENCE: reference('apiAddress, self:custom.apiAddress'),
  DOWNLOAD_BASE_URL: reference('downloadAddress, self:custom.downloadAddress'),
  EXTRACTION_QUEUE_URL: reference('extractionQueueUrl, self:custom.extractionQueueUrl'),
  METRICS_NAMESPACE: reference('metricsNamespace, self:custom.metricsNamespace'),
  NOTIFICATION_QUEUE_URL: reference('notificationQueueUrl, self:custom.notificationQueueUrl'),
  NOTIFICATION_SIGNING_KEY: reference('localSigningKey, self:custom.notificationSigningKey'),
  NOTIFICATION_URL: reference('notificationUrl, self:custom.notificationUrl'),
  TABLE_NAME: reference('tableName, self:custom.tableName'),
  NOTIFY_LOCALHOST: reference("notifyLocalhost, ''"),
};

/** An empty variable is as good as none: the function has its default. */
function environmentOf(read: readonly config.Concern[]): Record<string, string> {
  const variables = [config.metrics, ...read].flatMap((concern) => Object.entries(concern.variables()));
  const values = variables.map(([name, { parameter }]) => [
    name,
    computed[name] ?? (parameter && reference(`${parameter}, ''`)),
  ]);
  return Object.fromEntries(values.filter(([, value]) => value));
}

export const environments: Record<string, Record<string, string>> = Object.fromEntries(
  Object.entries(concerns).map(([name, read]) => [name, environmentOf(read)]),
);

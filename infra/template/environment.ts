import * as config from '../../lib/config.ts';
import { selfServiceDeployment } from './self-service.ts';
import { publicFiles, registryCaller } from '../../lib/deployment.ts';
import { loadOperations, type Operation } from '../operations.ts';

/*
 * The variables of each function: only those of the concerns that it reads, so the function that calls
 * receivers has no provider's key. A test compares them with the bundles. An operation's are in its own file
 * under lib/contracts.
 */
const stored = [config.registry];

const concernsOfOthers: Record<string, readonly config.Concern[]> = {
  receiveNotification: [...stored, config.notifications, config.work, config.taskWords],
  handOverWork: [...stored, config.work],
  deliverNotifications: [...stored, config.bucket, config.work, config.deliveries, config.receivers],
  pollProviders: [
    ...stored,
    config.work,
    config.taskWords,
    config.polls,
    config.imageProvider,
    config.videoProvider,
  ],
  selfService: selfServiceDeployment.variables,
  taskResults: [...registryCaller, config.taskWords],
  unknownRoute: [],
  watchReads: [config.bucket, config.downloads, config.watchedSite],
  finalizeUpload: [...stored, config.bucket, config.archives, config.work],
  visitAccounts: [...stored, config.work, config.stageBudget],
  extractHostNodes: [...stored, config.bucket, config.work],
  alignRegistry: [...stored, config.work, config.bucket, config.distribution],
  writeIndex: [...publicFiles, config.indexQueue, config.site],
  writeCatalog: [config.bucket, config.site],
  countDownloads: [...stored, config.bucket, config.downloadLogs, config.indexQueue],
};

/** The environment variables of each function, by its name. */
export function variablesOf(operations: readonly Operation[]): Record<string, config.Variables> {
  const concerns = {
    ...concernsOfOthers,
    ...Object.fromEntries(operations.map(({ contract, variables }) => [contract.name, variables])),
  };
  return Object.fromEntries(
    Object.entries(concerns).map(([name, read]) => [
      name,
      Object.assign({}, ...[config.metrics, ...read].map((concern) => concern.variables())),
    ]),
  );
}

/** How serverless.yml refers to a parameter, with a fallback for a missing one. */
function reference(parameter: string): string {
  return `\${param:${parameter}}`;
}

/** Variables that no parameter of a deployed stage sets: its own URLs, and those of the local stage only. */
const computed: Record<string, string> = {
  ACCOUNT_URL: reference('accountUrl, self:custom.accountUrl'),
  AWS_ENDPOINT_URL_S3: reference('s3Url, null'),
  CI_AUDIENCE: reference('apiAddress, self:custom.apiAddress'),
  DISTRIBUTION_ID: reference('distributionId, self:custom.distributionId'),
  DOWNLOAD_BASE_URL: reference('downloadAddress, self:custom.downloadAddress'),
  INDEX_QUEUE_URL: reference('indexQueueUrl, self:custom.indexQueueUrl'),
  LOG_BUCKET_NAME: reference('logBucketName, self:custom.logBucketName'),
  METRICS_NAMESPACE: reference('metricsNamespace, self:custom.metricsNamespace'),
  NOTIFICATION_SIGNING_KEY: reference('localSigningKey, self:custom.notificationSigningKey'),
  NOTIFICATION_URL: reference('notificationUrl, self:custom.notificationUrl'),
  // A stage without self-service has none of these.
  PROXY_ACCESS: reference('proxyAccess, null'),
  PROXY_CLAIM: reference('proxyClaim, null'),
  SITE_URL: reference('siteUrl, self:custom.siteUrl'),
  WORK_QUEUES: reference('workQueues, self:custom.workQueues'),
  WATCHED_SITE_URL: reference('watchedSiteUrl, self:custom.watchedSiteUrl'),
  TABLE_NAME: reference('tableName, self:custom.tableName'),
  NOTIFY_LOCALHOST: reference("notifyLocalhost, ''"),
};

/** An empty variable counts as missing: the function has its default. */
function environmentOf(variables: config.Variables): Record<string, string> {
  const values = Object.entries(variables).map(([name, variable]) => {
    const parameter = config.parameterOf(name, variable);
    return [name, computed[name] ?? (parameter && reference(`${parameter}, ''`))];
  });
  return Object.fromEntries(values.filter(([, value]) => value));
}

export async function loadEnvironments(): Promise<Record<string, Record<string, string>>> {
  const variables = Object.entries(variablesOf(await loadOperations()));
  return Object.fromEntries(variables.map(([name, read]) => [name, environmentOf(read)]));
}

import * as config from '../../lib/config.ts';
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
  selfService: [
    ...registryCaller,
    ...publicFiles,
    config.signIn,
    config.selfService,
    config.proxyAccess,
    config.spending,
  ],
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

/** What has neither a fallback of its own name in serverless.yml nor an empty one. */
const others: Record<string, string> = {
  AWS_ENDPOINT_URL_S3: reference('s3Url, null'),
  DOWNLOAD_BASE_URL: reference('downloadAddress, self:custom.downloadAddress'),
  // A stage without self-service has none of these.
  PROXY_ACCESS: reference('proxyAccess, null'),
  PROXY_CLAIM: reference('proxyClaim, null'),
};

/** `computed`: the stage's own values, under `custom` of serverless.yml. An empty variable counts as missing. */
function environmentOf(variables: config.Variables, computed: object): Record<string, string> {
  const values = Object.entries(variables).map(([name, variable]) => {
    const parameter = config.inCamelCase(name);
    const fallback = parameter in computed ? `self:custom.${parameter}` : "''";
    const isSet = !variable.isGiven || parameter in computed;
    return [name, others[name] ?? (isSet && reference(`${parameter}, ${fallback}`))];
  });
  return Object.fromEntries(values.filter(([, value]) => value));
}

export async function loadEnvironments(computed: object): Promise<Record<string, Record<string, string>>> {
  const variables = Object.entries(variablesOf(await loadOperations()));
  return Object.fromEntries(variables.map(([name, read]) => [name, environmentOf(read, computed)]));
}

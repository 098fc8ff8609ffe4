import type * as z from 'zod/mini';
import { ceilingsRule, isCeilingList } from '../../lib/config.ts';
import {
  ciIssuers,
  headerName,
  httpsAddress,
  keySet,
  oneOf,
  optional,
  origins,
  required,
  rollouts,
  secretName,
  shape,
  wholeNumber,
} from './parameter-rules.ts';

/*
 * Every parameter of a deployed stage, in the order of serverless.yml: what it must be, and what it is for, which is
 * its row in docs/configuration.md. Values come as text from the command line and as text or numbers from serverless.yml,
 * so all are checked as text.
 */
const claim = shape(/^[\x21-\x7e]{1,200}$/, 'be 1 to 200 visible characters');
const scheme = shape(/^[A-Za-z][A-Za-z0-9-]{0,31}$/, 'be one word');
const modelNames = shape(/^[\w.-]+(?:,[\w.-]+)*$/, 'be model names separated by commas, without blanks');
const perSecond = wholeNumber(1, 10_000);
const burst = wholeNumber(1, 5_000);
const reserved = wholeNumber(1, 1_000);
const dollars = wholeNumber(1, 10_000_000);
const limit = wholeNumber(0, 1_000_000_000);
const capacity = wholeNumber(1, 1_000_000);
/*
 * What a finalizer checks in its 300 s: at its 512 MB, a fifth of a second for each megabyte that it reads, and about
 * 80 MB a second that it inflates. A zip with more entries would need the extension "zip64", which is rejected.
 */
const maxCheckedBytes = 1_000_000_000;
const maxInflatedBytes = 5_000_000_000;
const maxZipEntries = 65_535;
const accessTokens = oneOf('required', 'optional');

export const parameters: Record<string, z.ZodMiniType> = {
  tokenIssuer: required(httpsAddress, 'The issuer of access tokens, exactly as their claim `iss` has it.'),
  tokenKeySetUrl: required(httpsAddress, 'Where the issuer publishes its key set.'),
  imageProviderUrl: required(httpsAddress, 'The base address of the image provider.'),
  videoProviderUrl: required(httpsAddress, 'The base address of the video provider.'),
  bucketName: required(
    shape(
      /^(?!unnamed$|xn--|sthree-|amzn-s3-)(?!.*(?:-s3alias|--ol-s3|--x-s3|--table-s3|-an)$)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/,
      'be 3 to 63 lowercase letters, digits and hyphens, without the prefixes and suffixes that S3 reserves',
    ),
    'The bucket of the archives. All accounts share the names of buckets.',
  ),
  imageProviderKey: required(secretName, 'Where the image provider’s key is stored.'),
  videoProviderKey: required(secretName, 'Where the video provider’s key is stored.'),
  secretsKeyArn: optional(
    shape(/^arn:aws[\w-]*:kms:[\w-]+:\d{12}:key\/[\w-]+$/, 'be the ARN of a KMS key, not of an alias'),
    'The KMS key of those secrets, if it is not the one that AWS keeps for the account.',
  ),
  tokenAudience: required(claim, 'The audience of access tokens, their `aud` or `client_id`.'),
  tokenKeySet: optional(keySet, 'The key set itself as JSON, so that a cold start fetches nothing.'),
  tokenAzp: required(
    oneOf('refused', 'accepted'),
    'Whether `azp` counts as the audience of a token that has neither `aud` nor `client_id`, such as Keycloak’s lightweight ones.',
  ),
  idTokens: required(
    oneOf('refused', 'accepted'),
    'Whether a token that calls itself an ID token is accepted.',
  ),
  adminClaim: optional(claim, 'The claim that marks an admin, or its path, such as `realm_access.roles`.'),
  adminClaimValue: optional(
    shape(
      /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<! )$/u,
      'be 1 to 200 characters on one line, without a blank at either end',
    ),
    'The value of that claim, or one of its values.',
  ),
  publishAccessToken: required(accessTokens, 'Whether publishers need an access token, too.'),
  proxyAccessToken: required(accessTokens, 'Whether callers of the video operations need an access token.'),
  ciIssuers: optional(
    ciIssuers,
    'Issuers of ID tokens of CI jobs, next to GitHub Actions and gitlab.com: `github` or `gitlab`, the issuer and perhaps the address of its key set, separated by blanks; commas separate several.',
  ),
  imageProviderKeyHeader: optional(headerName, 'The header that carries the image provider’s key.'),
  imageProviderKeyScheme: optional(scheme, 'What precedes the key in that header.'),
  videoProviderKeyHeader: optional(headerName, 'The header that carries the video provider’s key.'),
  videoProviderKeyScheme: optional(scheme, 'What precedes the key in that header.'),
  videoProviderModelPrefix: optional(
    shape(/^[\w.-]{1,32}$/, 'be 1 to 32 letters, digits, dots, hyphens and underscores'),
    'How the provider spells the `vid` that model names begin with.',
  ),
  videoModelsExtra: optional(modelNames, 'Model names to accept in addition to the listed ones.'),
  videoExtendSource: optional(
    oneOf('both', 'either'),
    '`either` accepts `video_url` without `video_creation_id`, and the reverse.',
  ),
  maxArchiveBytes: optional(wholeNumber(1, maxCheckedBytes), 'The maximum size of an archive.'),
  maxArchiveEntries: optional(
    wholeNumber(1, maxZipEntries),
    'The maximum number of files and folders in it.',
  ),
  maxUnpackedBytes: optional(wholeNumber(1, maxInflatedBytes), 'The maximum size that it unpacks to.'),
  maxUnpackedRatio: optional(wholeNumber(1, 10_000), 'How many times its own size it may unpack to.'),
  extractionTags: required(
    oneOf('on', 'off'),
    'Whether what the code of a version calls, such as `calls-eval`, becomes part of its `tags_admin`.',
  ),
  usageRecords: required(
    oneOf('on', 'off'),
    'Whether paid requests are recorded and counted. `off` knows no limits and no blocked callers.',
  ),
  creditsPerDay: optional(limit, 'Credits that each caller may spend per UTC day.'),
  tasksPerDay: optional(limit, 'Tasks that each caller may start per UTC day.'),
  requestsPerMinute: optional(limit, 'Paid requests that each caller may send per minute.'),
  creditCeilings: optional(
    {
      isKept: (value) => isCeilingList(value.split(',').map((entry) => entry.trim())),
      sentence: ceilingsRule,
    },
    'The most that a task may cost; a caller with a budget needs one. For `relightImage` it is the price.',
  ),
  notifications: required(
    oneOf('direct', 'relay'),
    'Who notifies callers of their tasks: the provider directly, or this service.',
  ),
  imageNotificationKey: optional(
    secretName,
    'Where the key is stored with which the image provider signs its notifications, if it does.',
  ),
  imageNotificationKeyHeader: optional(headerName, 'The header with that signature.'),
  videoNotificationKey: optional(secretName, 'The same for the video provider.'),
  videoNotificationKeyHeader: optional(headerName, 'The header with its signature.'),
  notificationSigningKey: optional(
    secretName,
    'Where the key is stored that signs notifications, if not in a secret that the stage makes itself.',
  ),
  notificationConcurrency: required(
    wholeNumber(2, 1000),
    'How many invocations send notifications at the same time, each up to ten of them.',
  ),
  failedNotificationsAlarm: required(
    capacity,
    'The alarm `notification-failures` rings above so many in an hour.',
  ),
  maxPendingVersions: optional(
    wholeNumber(1, 1000),
    'How many versions of a publisher may wait for their archives.',
  ),
  maxNewNodesPerDay: optional(limit, 'How many new nodes a publisher may publish per day.'),
  tableName: required(
    shape(/^[\w.-]{3,255}$/, 'be 3 to 255 letters, digits, dots, hyphens and underscores'),
    'The table.',
  ),
  downloadBaseUrl: optional(
    httpsAddress,
    'Where archives are downloaded, if not from a CloudFront distribution of the stage’s own.',
  ),
  corsOrigins: required(
    origins,
    'Origins of browser applications. No cookie is used, so any origin is safe.',
  ),
  rateLimit: required(perSecond, 'Requests a second on every other route, over all callers.'),
  burstLimit: required(burst, 'How many more in a burst.'),
  bulkRateLimit: required(perSecond, 'Bulk requests a second; one may read 1,000 versions.'),
  bulkBurstLimit: required(burst, 'How many more in a burst.'),
  publishRateLimit: required(perSecond, 'Publishes a second.'),
  publishBurstLimit: required(burst, 'How many more in a burst.'),
  proxyRateLimit: required(perSecond, 'Requests a second for each proxy; they spend money.'),
  proxyBurstLimit: required(burst, 'How many more in a burst.'),
  notificationRateLimit: required(perSecond, 'Notifications of providers a second.'),
  notificationBurstLimit: required(burst, 'How many more in a burst.'),
  proxyConcurrency: optional(reserved, 'Concurrent executions reserved for each proxy, and its maximum.'),
  finalizeConcurrency: optional(
    reserved,
    'Concurrent executions reserved for checking uploads, as many for reading their host nodes, and the maximum of each.',
  ),
  tableMaxReads: required(capacity, 'The maximum of read units a second that the table serves.'),
  tableMaxWrites: required(capacity, 'The maximum of write units a second that the table serves.'),
  domainName: optional(
    shape(
      /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{0,58}[a-z0-9])$/,
      'be a lowercase host name',
    ),
    'A host name of the API’s own; the generated one is then switched off.',
  ),
  certificateArn: optional(
    shape(/^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/, 'be the ARN of a certificate'),
    'An issued certificate for that name, in the stage’s region.',
  ),
  hostedZoneId: optional(
    shape(/^Z[A-Z0-9]{1,31}$/, 'be the id of a Route 53 hosted zone, such as Z0123456789ABCDEFGHIJ'),
    'The Route 53 zone in which the name is entered.',
  ),
  alarmTopicArn: optional(
    shape(/^arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w-]{1,256}$/, 'be the ARN of an SNS topic that is not FIFO'),
    'The SNS topic, in the stage’s region, that alarms notify.',
  ),
  creditsPerHourAlarm: required(capacity, 'The alarm `credits-per-hour` rings above so many.'),
  storageAlarmGigabytes: required(wholeNumber(1, 1_000_000), 'The alarm `bucket-size` rings above so many.'),
  monthlyBudgetDollars: optional(
    dollars,
    'A budget for the whole account, which notifies the topic at 80 % and 100 %.',
  ),
  accessLogs: required(
    oneOf('off', 'on'),
    'Whether the bucket and the distribution log each access, for 90 days.',
  ),
  archiveAdministratorArn: optional(
    shape(/^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/, 'be the ARN of a role'),
    'The role that may delete published archives or copy archives in. Nobody may otherwise.',
  ),
  tracing: required(oneOf('PassThrough', 'Active'), '`Active` sends traces to X-Ray.'),
  metricsNamespace: required(
    shape(
      /^(?!AWS\/)[\w./#-][\w./#:-]{0,254}$/,
      'be up to 255 letters, digits and ._/#:- and not begin with AWS/',
    ),
    'The namespace of the stage’s own metrics.',
  ),
  rollout: required(rollouts, 'How a new release takes over: at once, or by a configuration of CodeDeploy.'),
  restart: optional(
    shape(/^[\w:.+-]{1,64}$/, 'be 1 to 64 letters, digits and :.+-_'),
    'Any value that was not used before, such as the time, restarts every function with a deployment.',
  ),
};

import { archiveLimits } from '@node-registry/registry-rules/archives/limits';
import { issueSentence } from '@node-registry/registry-rules/issue-sentence';
import * as z from 'zod/mini';
import * as kind from './variable-kinds.ts';

/*
 * Defines every variable of the functions: its kind, its description, and whether a stage parameter sets it. The
 * functions' environment, the rules of the parameters and docs/configuration.md are generated from it.
 * Each concern is a separate constant, so a bundle contains only the concerns that its function reads.
 */

/** Every provider. Its variables begin with its name; its adapter is `lib/providers/<name>-provider.ts`. */
export const providerNames = ['image', 'video'] as const;

export type ProviderName = (typeof providerNames)[number];

export function isProviderName(name: unknown): name is ProviderName {
  return providerNames.some((each) => each === name);
}

type Source = Readonly<Record<string, string | undefined>>;

let source: Source = process.env;

/** Replaces the process's variables. Values computed from earlier variables are computed again. */
export function configure(values: Source): void {
  source = values;
}

/** Computes a value from the configuration at its first use. */
// @__NO_SIDE_EFFECTS__
export function configured<Value>(make: () => Value): () => Value {
  let made: { from: Source; value: Value } | undefined;
  return () => {
    if (made?.from !== source) made = { from: source, value: make() };
    return made.value;
  };
}

/**
 * The same, but first while a function starts, when no request waits. If that fails, the first request that needs
 * the value fails as well, and its log line has the cause.
 */
export function atStart<Value>(make: () => Value): () => Value {
  const value = configured(make);
  try {
    value();
  } catch {}
  return value;
}

export interface Variable<Schema extends z.ZodMiniType = z.ZodMiniType> {
  schema: Schema;
  about: string;
  /** Whether Lambda, the local stack or the template sets it, and no parameter of the stage. */
  isGiven: boolean;
}

/** The parameter of the stage that sets a variable has its name: `bucketName` sets BUCKET_NAME. */
export function parameterOf(name: string, { isGiven }: Variable): string | undefined {
  return isGiven ? undefined : inCamelCase(name);
}

export function inCamelCase(name: string): string {
  return name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

export type Variables = Record<string, Variable>;
type ValuesOf<V extends Variables> = { [Name in keyof V]: z.output<V[Name]['schema']> };

export interface Concern<V extends Variables = Variables> {
  (): ValuesOf<V>;
  variables: () => V;
}

// @__NO_SIDE_EFFECTS__
function concern<V extends Variables>(variables: () => V): Concern<V> {
  return Object.assign(
    configured(() => read(variables())),
    { variables },
  );
}

/** An empty variable counts as missing. A missing or malformed variable is an error that names it. */
function read<V extends Variables>(variables: V): ValuesOf<V> {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, { schema }] of Object.entries(variables)) {
    const text = source[name] || undefined;
    // Each is parsed once, so compiling a parser would cost more than it saves.
    const { data, error } = z.safeParse(schema, text, { jitless: true });
    values[name] = data;
    problems.push(...(error?.issues ?? []).map((issue) => `${name}: ${issueSentence(issue, text)}`));
  }
  if (problems.length === 0) return values as ValuesOf<V>;
  throw new Error(`The environment is not valid. ${problems.join('; ')}`);
}

function variable<Schema extends z.ZodMiniType>(schema: Schema, about: string): Variable<Schema> {
  return { schema, about, isGiven: false };
}

function given<Schema extends z.ZodMiniType>(schema: Schema, about: string): Variable<Schema> {
  return { schema, about, isGiven: true };
}

export const tokens = concern(() => ({
  TOKEN_ISSUER: variable(kind.address, 'Issuer of access tokens: their `iss`.'),
  TOKEN_AUDIENCE: variable(kind.claimText(), 'Audience of access tokens: `aud` or `client_id`.'),
  TOKEN_KEY_SET_URL: variable(kind.address, 'URL of its key set.'),
  TOKEN_KEY_SET: variable(z.optional(kind.keySet()), 'Key set as JSON; cold starts then fetch nothing.'),
  TOKEN_AZP: variable(
    kind.choice('rejected', 'accepted'),
    '`accepted` takes `azp` as the audience of tokens without one.',
  ),
  ID_TOKENS: variable(kind.choice('rejected', 'accepted'), '`accepted` takes tokens with `token_use: id`.'),
  ADMIN_CLAIM: variable(
    z._default(kind.claimText(), 'role'),
    'Claim of admins, or its path, such as `realm_access.roles`.',
  ),
  ADMIN_CLAIM_VALUE: variable(
    z._default(
      kind.textMatching(
        /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<! )$/u,
        'be 1 to 200 characters on one line, without spaces at its ends',
      ),
      'admin',
    ),
    'Its value, or one of its values.',
  ),
  PUBLISH_ACCESS_TOKEN: variable(
    kind.choice('required', 'optional'),
    '`optional` lets a personal access token publish alone.',
  ),
  PROXY_ACCESS_TOKEN: variable(
    kind.choice('required', 'optional'),
    '`optional` opens the video operations to everyone, for a closed network.',
  ),
}));

/** Who of those that sign in may spend. */
export const proxyAccess = concern(() => ({
  PROXY_ACCESS: variable(
    z.optional(z.enum(['none', 'claim', 'listed', 'any'])),
    'Who may call the proxies: `none`, `claim` (has `proxyClaim`), `listed` (has own limits) or `any`. Needed with `selfService=on`.',
  ),
  PROXY_CLAIM: variable(
    z.optional(kind.claimWithValue()),
    'Claim of `proxyAccess=claim`, with its value: `<claim>=<value>`.',
  ),
}));

/** Who signs in, and how. */
export const signIn = concern(() => ({
  SELF_SERVICE_CLAIM: variable(
    z.optional(kind.claimWithValue()),
    'Claim that people must have, with its value: `<claim>=<value>`.',
  ),
  EMAIL_CLAIM: variable(z.optional(kind.claimText()), 'Claim of e-mail addresses; needs `email_verified`.'),
  LOGIN_CLIENT_ID: variable(
    z.optional(kind.claimText()),
    'Public client of the command and the page at the issuer.',
  ),
  LOGIN_ISSUER: variable(
    z.optional(kind.address),
    'Issuer where people sign in, unless it is `tokenIssuer`.',
  ),
  LOGIN_SCOPES: variable(
    z._default(
      kind.textMatching(
        /^[\x21\x23-\x5b\x5d-\x7e]{1,200}(?: [\x21\x23-\x5b\x5d-\x7e]{1,200}){0,19}$/,
        'be scopes separated by spaces',
      ),
      'openid',
    ),
    'Scopes that they ask for.',
  ),
  LOGIN_AUDIENCE: variable(
    z.optional(kind.claimText()),
    'Audience that they ask for, unless it is `tokenAudience`.',
  ),
  ACCOUNT_URL: given(z.optional(kind.address), 'URL of the page for accounts, if there is one.'),
}));

export const selfService = concern(() => ({
  PUBLISHERS_PER_PERSON: variable(kind.count(5, 1000), 'Publishers that a person may make.'),
  NEW_PUBLISHERS_PER_DAY: variable(kind.count(200, 100_000), 'Publishers that all people may make a day.'),
  OWN_NEW_NODES_PER_DAY: variable(
    kind.count(20, 10_000),
    'New nodes a day of a publisher that a person made.',
  ),
  RESERVED_PUBLISHER_IDS: variable(
    kind.list((id) => /^[\w.-]{1,100}$/.exec(id)?.[0], 'be publisher ids separated by commas'),
    'Further publisher IDs that are not for people, separated by commas.',
  ),
}));

export const ci = concern(() => ({
  CI_AUDIENCE: given(
    kind.list((audience) => audience),
    'Audiences of CI jobs’ ID tokens, separated by commas.',
  ),
  CI_ISSUERS: variable(
    kind.ciIssuers(),
    'Further CI issuers, separated by commas: `github` or `gitlab`, its URL, and optionally its key set’s URL.',
  ),
}));

export const metrics = concern(() => ({
  METRICS_NAMESPACE: given(
    z.optional(
      kind.textMatching(
        /^(?!AWS\/)[\w./#-][\w./#:-]{0,254}$/,
        'be up to 255 letters, digits and ._/#:- and not begin with AWS/',
      ),
    ),
    'CloudWatch namespace of metrics.',
  ),
  RELEASE: given(z.optional(z.string()), 'Release of the code.'),
  AWS_LAMBDA_FUNCTION_VERSION: given(z.optional(z.string()), 'Lambda sets it.'),
}));

export const registry = concern(() => ({
  TABLE_NAME: given(
    kind.textMatching(/^[\w.-]{3,255}$/, 'be 3 to 255 letters, digits, dots, hyphens and underscores'),
    'DynamoDB table: `node-registry-<stage>`.',
  ),
}));

export const publishing = concern(() => ({
  MAX_PENDING_VERSIONS: given(kind.count(100, 1000), 'Pending versions per publisher.'),
  MAX_NEW_NODES_PER_DAY: variable(kind.limit(), 'New nodes per publisher and UTC day; 0: no limit.'),
}));

export const bucket = concern(() => ({
  AWS_REGION: given(kind.nonEmpty(), 'Region; Lambda sets it.'),
  BUCKET_NAME: variable(
    kind.textMatching(
      /^(?!unnamed$|xn--|sthree-|amzn-s3-)(?!.*(?:-s3alias|--ol-s3|--x-s3|--table-s3|-an)$)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/,
      'be 3 to 63 lowercase letters, digits and hyphens, without the prefixes and suffixes that S3 reserves',
    ),
    'S3 bucket of the archives, unique in AWS.',
  ),
  AWS_ENDPOINT_URL_S3: given(z.optional(kind.endpointUrl()), 'Another S3 endpoint.'),
}));

/** What drops its copies of banned archives. */
export const distribution = concern(() => ({
  DISTRIBUTION_ID: given(z.optional(z.string()), 'Distribution of the archives, if the stage has one.'),
}));

export const downloads = concern(() => ({
  DOWNLOAD_BASE_URL: variable(z.optional(kind.address), 'URL of downloads, instead of an own distribution.'),
}));

/** The maximum is the size that a finalizer can check in 300 s: at its 512 MB, 0.2 s for each megabyte. */
export const archives = concern(() => ({
  MAX_ARCHIVE_BYTES: variable(
    kind.count(archiveLimits.archiveBytes, 1_000_000_000),
    'Maximum size of an archive.',
  ),
}));

export const downloadLogs = concern(() => ({
  LOG_BUCKET_NAME: given(z.string(), 'Bucket of the distribution’s logs.'),
  ACCESS_LOGS: variable(
    kind.choice('counted', 'on', 'off'),
    '`counted` counts downloads in the distribution’s logs, then deletes these. `on` keeps them, and the bucket’s, for 90 days.',
  ),
}));

export const indexQueue = concern(() => ({
  INDEX_QUEUE_URL: given(kind.address, 'SQS queue of changes that the index is still to follow.'),
}));

/** Whose site it is. Without a URL, pages don't give search engines a canonical one. */
export const site = concern(() => ({
  SITE_URL: given(z.optional(kind.address), 'Site’s URL, if it has a name of its own.'),
  SITE_NAME: variable(
    z._default(
      kind.textMatching(
        /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]{0,58}[^\p{C}\p{Z}])?$/u,
        'be 1 to 60 characters on one line',
      ),
      'Node registry',
    ),
    'Site’s name, on each page.',
  ),
  SITE_LOGO: variable(z.optional(kind.address), 'URL of its logo, instead of ours.'),
  SITE_LINKS: variable(kind.namedLinks(), 'Links of its footer: `Terms=https://…, Contact=mailto:…`.'),
  SITE_REPORT_URL: variable(z.optional(kind.link('{id}')), 'Where people report a node: URL with `{id}`.'),
  TOOL_PACKAGE: variable(
    z.optional(kind.installCommand()),
    'Your own command that installs a version, with `{id}` and `{version}`.',
  ),
}));

export const watchedSite = concern(() => ({
  WATCHED_SITE_URL: given(z.optional(kind.endpointUrl()), 'URL of the site, if there is one.'),
}));

export const imageProvider = concern(() => ({
  IMAGE_PROVIDER_URL: variable(kind.address, 'Base URL of the image provider.'),
  IMAGE_PROVIDER_KEY: variable(kind.secret, 'Image provider’s key.'),
  IMAGE_PROVIDER_KEY_HEADER: variable(
    kind.providerKeyHeader('x-api-key'),
    'Its header, and the word before the key, if any: `<header>: <word>`.',
  ),
}));

export const videoProvider = concern(() => ({
  VIDEO_PROVIDER_URL: variable(kind.address, 'Base URL of the video provider.'),
  VIDEO_PROVIDER_KEY: variable(kind.secret, 'Video provider’s key.'),
  VIDEO_PROVIDER_KEY_HEADER: variable(
    kind.providerKeyHeader('authorization: Token'),
    'As `imageProviderKeyHeader`.',
  ),
  VIDEO_PROVIDER_MODEL_PREFIX: variable(
    z._default(
      kind.textMatching(/^[\w.-]{1,32}$/, 'be 1 to 32 letters, digits, dots, hyphens and underscores'),
      'vid',
    ),
    'What the video provider writes for `vid` in model names.',
  ),
}));

export const spending = concern(() => ({
  CREDITS_PER_DAY: variable(kind.limitOrNone(), 'Credits per caller and UTC day, or `none`.'),
  TASKS_PER_DAY: variable(kind.limit(), 'Tasks per caller and UTC day; 0: no limit.'),
  REQUESTS_PER_MINUTE: variable(kind.limit(), 'Paid requests per caller and minute; 0: no limit.'),
  OPEN_ATTEMPTS: variable(kind.count(200, 1000), 'Paid requests of a caller that may wait at once.'),
  CREDIT_RATES: variable(
    kind.creditRates(),
    'What providers charge: a JSON list ([rates](spending.md#rates)). Optional without a limit of credits.',
  ),
}));

export const stageBudget = concern(() => ({
  STAGE_CREDITS_PER_DAY: variable(
    kind.limit(),
    'Credits of all callers per UTC day, added up each minute; 0: no limit.',
  ),
}));

export const notifications = concern(() => ({
  NOTIFICATIONS: variable(
    kind.choice('relay', 'direct'),
    '`relay`: the service notifies callers. `direct`: the provider does.',
  ),
}));

export const results = concern(() => ({
  RESULT_ROUTES: variable(
    kind.choice('on', 'off'),
    '`on` serves tasks’ results at the providers’ own paths; needs `notifications=relay`.',
  ),
}));

export const taskWords = concern(() => ({
  PROVIDER_STATES: variable(
    kind.stateWords(),
    'Providers’ other words for states, separated by commas, such as `upscaling=processing`.',
  ),
}));

const taskPathAbout = 'Its path for a task’s state; `off`: don’t poll.';

export const polls = concern(() => ({
  IMAGE_PROVIDER_TASK_PATH: variable(kind.taskPath('/v1/ai/image-relight/{task_id}'), taskPathAbout),
  VIDEO_PROVIDER_TASK_PATH: variable(kind.taskPath('/tasks/{task_id}/creations'), taskPathAbout),
}));

export const relay = concern(() => ({
  NOTIFICATION_URL: given(kind.address, 'URL that providers notify.'),
}));

export const work = concern(() => ({
  WORK_QUEUES: given(kind.address, 'What the URLs of all queues of work begin with.'),
}));

export const deliveries = concern(() => ({
  NOTIFICATION_SIGNING_KEY: given(kind.secret, 'Key that signs notifications, or two during a rotation.'),
}));

export const receivers = concern(() => ({
  NOTIFY_LOCALHOST: given(kind.choice('rejected', 'accepted'), '`accepted` notifies localhost.'),
}));

export const videoRules = concern(() => ({
  VIDEO_EXTEND_SOURCE: variable(
    kind.choice('both', 'either'),
    '`either` accepts `video_url` or `video_creation_id` alone.',
  ),
  VIDEO_MODELS_EXTRA: variable(
    kind.list((name) => /^[\w.-]+$/.exec(name)?.[0], 'be model names separated by commas'),
    'Further video models, separated by commas.',
  ),
}));

/** The rules of the video operations that an operator can change. */
export type VideoRules = ReturnType<typeof videoRules>;

export const secretStore = concern(() => ({
  AWS_REGION: given(kind.nonEmpty(), 'Region; Lambda sets it.'),
  AWS_ENDPOINT_URL_SSM: given(z.optional(kind.endpointUrl()), 'Another endpoint for SSM parameters.'),
  AWS_ENDPOINT_URL_SECRETS_MANAGER: given(
    z.optional(kind.endpointUrl()),
    'Another endpoint for Secrets Manager.',
  ),
}));

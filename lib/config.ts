import type { Jwks } from 'aws-jwt-verify/jwk';
import * as z from 'zod/mini';
import { issueSentence } from 'registry-rules/issue-sentence';
import { archiveLimits } from 'registry-rules/archives/limits';
import { isWebAddress } from 'registry-rules/web-address';

/*
 * Defines every variable of the functions: its schema, its description, and the stage parameter that sets it. The
 * functions' environment, the rules of the parameters and docs/configuration.md are generated from it.
 * Each concern is a separate constant, so a bundle contains only the concerns that its function reads.
 */

/** Every provider. Its variables begin with its name, and its adapter is `lib/providers/<name>-provider.ts`. */
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
 * Computes a value while a function starts, when no request waits. If that fails, the first request that needs the value
 * fails too, and its log line has the cause.
 */
export function atStart<Value>(value: () => Value): () => Value {
  try {
    value();
  } catch {}
  return value;
}

export interface Variable<Schema extends z.ZodMiniType = z.ZodMiniType> {
  schema: Schema;
  /** Undefined if Lambda, the local stack or the template sets the variable. */
  parameter: string | undefined;
  about: string;
}

export type Variables = Record<string, Variable>;
type ValuesOf<V extends Variables> = { [Name in keyof V]: z.output<V[Name]['schema']> };

/** Reads the variables of one concern. */
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

function variable<Schema extends z.ZodMiniType>(
  schema: Schema,
  parameter: string | undefined,
  about: string,
): Variable<Schema> {
  return { schema, parameter, about };
}

export const tokens = concern(() => ({
  TOKEN_ISSUER: variable(address, 'tokenIssuer', 'Issuer of access tokens, exactly their `iss`.'),
  TOKEN_AUDIENCE: variable(claimText(), 'tokenAudience', 'Audience of access tokens: `aud` or `client_id`.'),
  TOKEN_JWKS_URL: variable(address, 'tokenKeySetUrl', 'URL of its key set.'),
  TOKEN_JWKS: variable(
    z.optional(keySet()),
    'tokenKeySet',
    'Key set as JSON, so that cold starts fetch nothing.',
  ),
  TOKEN_AZP: variable(
    choice('refused', 'accepted'),
    'tokenAzp',
    '`accepted` takes `azp` as the audience of tokens without one.',
  ),
  ID_TOKENS: variable(
    choice('refused', 'accepted'),
    'idTokens',
    '`accepted` takes tokens with `token_use: id`.',
  ),
  ADMIN_CLAIM: variable(
    z._default(claimText(), 'role'),
    'adminClaim',
    'Claim of admins, or its path, such as `realm_access.roles`.',
  ),
  ADMIN_CLAIM_VALUE: variable(
    z._default(
      textMatching(
        /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<! )$/u,
        'be 1 to 200 characters on one line, without spaces at its ends',
      ),
      'admin',
    ),
    'adminClaimValue',
    'Its value, or one of its values.',
  ),
  PUBLISH_ACCESS_TOKEN: variable(
    choice('required', 'optional'),
    'publishAccessToken',
    '`optional` lets a personal access token publish alone.',
  ),
  PROXY_ACCESS_TOKEN: variable(
    choice('required', 'optional'),
    'proxyAccessToken',
    '`optional` opens the video operations to everyone, for a closed network.',
  ),
}));

export const ci = concern(() => ({
  CI_AUDIENCE: variable(list(), undefined, 'Audiences of CI jobs’ ID tokens, separated by commas.'),
  CI_ISSUERS: variable(
    ciIssuers(),
    'ciIssuers',
    'Further CI issuers, separated by commas: `github` or `gitlab`, its URL, optionally its key set’s.',
  ),
}));

export const metrics = concern(() => ({
  METRICS_NAMESPACE: variable(
    z.optional(
      textMatching(
        /^(?!AWS\/)[\w./#-][\w./#:-]{0,254}$/,
        'be up to 255 letters, digits and ._/#:- and not begin with AWS/',
      ),
    ),
    undefined,
    'CloudWatch namespace of metrics.',
  ),
}));

export const registry = concern(() => ({
  TABLE_NAME: variable(
    textMatching(/^[\w.-]{3,255}$/, 'be 3 to 255 letters, digits, dots, hyphens and underscores'),
    undefined,
    'DynamoDB table: `node-registry-<stage>`.',
  ),
}));

export const publishing = concern(() => ({
  MAX_PENDING_VERSIONS: variable(count(100, 1000), undefined, 'Pending versions per publisher.'),
  MAX_NEW_NODES_PER_DAY: variable(
    limit(),
    'maxNewNodesPerDay',
    'New nodes per publisher and UTC day; 0: no limit.',
  ),
}));

export const bucket = concern(() => ({
  AWS_REGION: variable(nonEmpty(), undefined, 'Region; Lambda sets it.'),
  BUCKET_NAME: variable(
    textMatching(
      /^(?!unnamed$|xn--|sthree-|amzn-s3-)(?!.*(?:-s3alias|--ol-s3|--x-s3|--table-s3|-an)$)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/,
      'be 3 to 63 lowercase letters, digits and hyphens, without the prefixes and suffixes that S3 reserves',
    ),
    'bucketName',
    'S3 bucket of the archives, unique in all of AWS.',
  ),
  AWS_ENDPOINT_URL_S3: variable(z.optional(endpointUrl()), undefined, 'Another S3 endpoint.'),
}));

export const downloads = concern(() => ({
  DOWNLOAD_BASE_URL: variable(
    z.optional(address),
    'downloadBaseUrl',
    'URL of downloads, instead of the stage’s own distribution.',
  ),
}));

/** The maximum is the size that a finalizer can check in its 300 s: at its 512 MB, 0.2 s for each megabyte. */
export const archives = concern(() => ({
  MAX_ARCHIVE_BYTES: variable(
    count(archiveLimits.archiveBytes, 1_000_000_000),
    'maxArchiveBytes',
    'Maximum size of an archive.',
  ),
}));

export const downloadLogs = concern(() => ({
  LOG_BUCKET_NAME: variable(z.string(), undefined, 'Bucket of the distribution’s logs.'),
  ACCESS_LOGS: variable(
    choice('counted', 'on', 'off'),
    'accessLogs',
    '`counted`: the distribution’s logs are counted as downloads, then deleted. `on` keeps them, and the bucket’s, for 90 days.',
  ),
}));

export const extractionQueue = concern(() => ({
  EXTRACTION_QUEUE_URL: variable(address, undefined, 'SQS queue of archives to read.'),
}));

export const indexQueue = concern(() => ({
  INDEX_QUEUE_URL: variable(address, undefined, 'SQS queue of changes that the index is still to follow.'),
}));

/** The site's host name. Without it, pages don't give search engines a canonical URL. */
export const siteAddress = concern(() => ({
  SITE_DOMAIN_NAME: variable(
    z.optional(hostName()),
    'siteDomainName',
    'Site’s host name, of canonical addresses, feed and sitemap.',
  ),
}));

export const imageProvider = concern(() => ({
  IMAGE_PROVIDER_URL: variable(address, 'imageProviderUrl', 'Base URL of the image provider.'),
  IMAGE_PROVIDER_KEY: variable(secret, 'imageProviderKey', 'Image provider’s key.'),
  IMAGE_PROVIDER_KEY_HEADER: variable(
    providerKeyHeader('x-api-key'),
    'imageProviderKeyHeader',
    'Header of that key, and the word before it, if any: `<header>: <word>`.',
  ),
}));

export const videoProvider = concern(() => ({
  VIDEO_PROVIDER_URL: variable(address, 'videoProviderUrl', 'Base URL of the video provider.'),
  VIDEO_PROVIDER_KEY: variable(secret, 'videoProviderKey', 'Video provider’s key.'),
  VIDEO_PROVIDER_KEY_HEADER: variable(
    providerKeyHeader('authorization: Token'),
    'videoProviderKeyHeader',
    'The same for the video provider.',
  ),
  VIDEO_PROVIDER_MODEL_PREFIX: variable(
    z._default(
      textMatching(/^[\w.-]{1,32}$/, 'be 1 to 32 letters, digits, dots, hyphens and underscores'),
      'vid',
    ),
    'videoProviderModelPrefix',
    'Its spelling of `vid` in model names.',
  ),
}));

export const spending = concern(() => ({
  CREDITS_PER_DAY: variable(limitOrNone(), 'creditsPerDay', 'Credits per caller and UTC day, or `none`.'),
  TASKS_PER_DAY: variable(limit(), 'tasksPerDay', 'Tasks per caller and UTC day; 0: no limit.'),
  REQUESTS_PER_MINUTE: variable(
    limit(),
    'requestsPerMinute',
    'Paid requests per caller and minute; 0: no limit.',
  ),
  CREDIT_RATES: variable(
    creditRates(),
    'creditRates',
    'What providers charge: a JSON list ([rates](spending.md#rates)).',
  ),
}));

export const notifications = concern(() => ({
  NOTIFICATIONS: variable(
    choice('relay', 'direct'),
    'notifications',
    '`relay`: this service notifies callers. `direct`: the provider does.',
  ),
}));

export const taskWords = concern(() => ({
  PROVIDER_STATES: variable(
    stateWords(),
    'providerStates',
    'Further words of providers for states, separated by commas, such as `upscaling=processing`.',
  ),
}));

const taskPathAbout = 'Its path for the state of a task; `off`: don’t ask.';

export const questions = concern(() => ({
  IMAGE_PROVIDER_TASK_PATH: variable(
    taskPath('/v1/ai/image-relight/{task_id}'),
    'imageProviderTaskPath',
    taskPathAbout,
  ),
  VIDEO_PROVIDER_TASK_PATH: variable(
    taskPath('/tasks/{task_id}/creations'),
    'videoProviderTaskPath',
    taskPathAbout,
  ),
  QUESTIONS_PER_SECOND: variable(
    count(5, 100),
    undefined,
    'How many tasks each provider is asked for in a second, at most.',
  ),
}));

export const relay = concern(() => ({
  NOTIFICATION_URL: variable(address, undefined, 'URL that providers notify.'),
}));

export const notificationQueue = concern(() => ({
  NOTIFICATION_QUEUE_URL: variable(address, undefined, 'SQS queue of notifications.'),
}));

export const deliveries = concern(() => ({
  NOTIFICATION_SIGNING_KEY: variable(
    secret,
    undefined,
    'Key that signs notifications, or two during a rotation.',
  ),
}));

export const receivers = concern(() => ({
  NOTIFY_LOCALHOST: variable(choice('refused', 'accepted'), undefined, '`accepted` notifies localhost.'),
}));

export const videoRules = concern(() => ({
  VIDEO_EXTEND_SOURCE: variable(
    choice('both', 'either'),
    'videoExtendSource',
    '`either` accepts `video_url` or `video_creation_id` alone.',
  ),
  VIDEO_MODELS_EXTRA: variable(
    list(/^[\w.-]+$/, 'be model names separated by commas'),
    'videoModelsExtra',
    'Further model names of all video operations, separated by commas.',
  ),
}));

/** The rules of the video operations that an operator can change. */
export type VideoRules = ReturnType<typeof videoRules>;

export const secretStore = concern(() => ({
  AWS_REGION: variable(nonEmpty(), undefined, 'Region; Lambda sets it.'),
  AWS_ENDPOINT_URL_SSM: variable(
    z.optional(endpointUrl()),
    undefined,
    'Another endpoint for SSM parameters.',
  ),
  AWS_ENDPOINT_URL_SECRETS_MANAGER: variable(
    z.optional(endpointUrl()),
    undefined,
    'Another endpoint for Secrets Manager.',
  ),
}));

function nonEmpty() {
  return z.string().check(z.minLength(1));
}

export function textMatching(pattern: RegExp, rule: string) {
  return z.string().check(z.refine((value) => pattern.test(value), `must ${rule}`));
}

export function hostName() {
  return textMatching(
    /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{0,58}[a-z0-9])$/,
    'be a lowercase host name',
  );
}

/** The first is the default. */
function choice<const Values extends [string, ...string[]]>(...values: Values) {
  return z._default(z.enum(values), values[0]);
}

function count(standard: number, maximum: number) {
  return z._default(wholeNumber(1, maximum), standard);
}

/** A limit that a stage must state. `none` is read as 0: no limit. */
function limitOrNone() {
  const isLimit = (value: string) =>
    value === 'none' || wholeNumber(1, 1_000_000_000).safeParse(value).success;
  const rule = 'must be a whole number from 1 to 1000000000, or none';
  return z.pipe(
    z._default(z.string(), 'none').check(z.refine(isLimit, rule)),
    z.transform((value) => (value === 'none' ? 0 : Number(value))),
  );
}

/** 0 means no limit. */
function limit() {
  return z._default(wholeNumber(0, 1_000_000_000), 0);
}

export function wholeNumber(minimum: number, maximum: number) {
  const isWithin = (value: string) =>
    /^\d{1,15}$/.test(value) && Number(value) >= minimum && Number(value) <= maximum;
  const rule = `must be a whole number from ${minimum} to ${maximum}`;
  return z.pipe(z.string().check(z.refine(isWithin, rule)), z.transform(Number));
}

function claimText() {
  return textMatching(/^[\x21-\x7e]{1,200}$/, 'be 1 to 200 visible characters');
}

/** A secret, or a reference to it: `ssm:<name>` or `secretsmanager:<name>`. A deployment has only references. */
export const secret = /* @__PURE__ */ z.string().check(/* @__PURE__ */ z.minLength(1));

/** The URL of another service, with https. Plain http is for the local stack only. */
export const address = /* @__PURE__ */ z
  .string()
  .check(
    /* @__PURE__ */ z.refine(
      isSecureOrLoopback,
      'must be an https address without a query or user (http only on localhost)',
    ),
  );

function isSecureOrLoopback(value: string): boolean {
  const url = isWebAddress(value) && !/[\s?#\\]/.test(value) ? URL.parse(value) : null;
  if (url?.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

const isLoopback = (hostname: string) => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

/** Another endpoint of an AWS service, such as the local stack's. */
function endpointUrl() {
  return z.string().check(z.refine(isWebAddress, 'must be an absolute http or https URL'));
}

function keySet() {
  return z.pipe(
    z.string().check(z.refine(isKeySet, 'must be a JSON Web Key Set, {"keys": […]}')),
    z.transform((value): Jwks => JSON.parse(value)),
  );
}

function isKeySet(value: string): boolean {
  try {
    const { keys } = JSON.parse(value);
    return Array.isArray(keys) && keys.length > 0 && keys.every(({ kty }) => typeof kty === 'string');
  } catch {
    return false;
  }
}

function list(pattern?: RegExp, rule = '') {
  return z.pipe(
    z._default(z.string(), ''),
    z
      .pipe(
        z.transform((value: string) => value.split(',').flatMap((entry) => entry.trim() || [])),
        z.array(z.string()),
      )
      .check(
        z.refine((entries) => !pattern || entries.every((entry) => pattern.test(entry)), `must ${rule}`),
      ),
  );
}

const stateWord = /^([^=,]{1,100})=(created|queueing|processing|success|failed)$/;

function stateWords() {
  return z.pipe(
    list(stateWord, 'be words with their states, such as `upscaling=processing`, separated by commas'),
    z.transform((entries) =>
      entries.map((entry) => {
        const [word = '', state = ''] = entry.split('=');
        return { word, state };
      }),
    ),
  );
}

/** The provider's path for the state of a task. Undefined if the provider can't be asked. */
function taskPath(standard: string) {
  return z.pipe(
    z._default(
      textMatching(/^(?:off|\/[\w./~-]*\{task_id\}[\w./~-]*)$/, 'be a path with {task_id}, or off'),
      standard,
    ),
    z.transform((path) => (path === 'off' ? undefined : path)),
  );
}

interface CiIssuer {
  kind: 'github' | 'gitlab';
  issuer: string;
  keySetUrl: string | undefined;
}

function readCiIssuer(entry: string): CiIssuer | undefined {
  const [kind, issuer = '', keySetUrl, ...rest] = entry.split(/\s+/);
  const isComplete = isSecureOrLoopback(issuer) && isSecureOrLoopback(keySetUrl ?? issuer);
  if ((kind !== 'github' && kind !== 'gitlab') || !isComplete || rest.length > 0) return undefined;
  return { kind, issuer, keySetUrl };
}

function ciIssuers() {
  return z.pipe(
    list().check(
      z.refine(
        (entries) => entries.every(readCiIssuer),
        'must be `github` or `gitlab`, an https address and perhaps another, separated by spaces',
      ),
    ),
    z.transform((entries) => entries.flatMap((entry) => readCiIssuer(entry) ?? [])),
  );
}

/** The most credits that a provider charges for a task. An absent part costs nothing. */
const rate = () => ({
  task: z.optional(credits()),
  frame: z.optional(credits()),
  second: z.optional(credits()),
});
export type Rate = z.infer<z.ZodMiniObject<ReturnType<typeof rate>>>;

function credits() {
  return z.int().check(z.minimum(0), z.maximum(1_000_000_000));
}

/** A row of the operator's rates: which tasks it covers, and their price. */
const rateRow = () =>
  z.strictObject({
    operation: z.string(),
    model: z.optional(z.string()),
    resolution: z.optional(z.string()),
    seconds: z.optional(z.int().check(z.minimum(1))),
    ...rate(),
    /** Seconds for each frame if the request names none, instead of the contract's. */
    assumedSeconds: z.optional(z.int().check(z.minimum(1))),
  });
export type RateRow = z.infer<ReturnType<typeof rateRow>>;

const ratesRule =
  'must be a JSON list of rates such as [{"operation":"textToVideo","model":"vidq3-pro","second":30}]';

function creditRates() {
  const rows = z.array(rateRow());
  const read = (value: string) => {
    try {
      return rows.safeParse(JSON.parse(value), { jitless: true }).data;
    } catch {
      return undefined;
    }
  };
  return z.pipe(
    z._default(z.string(), '[]').check(z.refine((value) => read(value) !== undefined, ratesRule)),
    z.transform((value) => read(value) ?? []),
  );
}

/** Headers that HTTP uses, that all our requests have, or that API Gateway renames. */
const takenHeader =
  /^(?:accept|accept-encoding|connection|content-encoding|content-length|content-type|date|expect|host|keep-alive|proxy-authorization|proxy-connection|te|trailer|transfer-encoding|upgrade|x-amzn-remapped-.*)$/i;

/** The header of a provider's key, and the word before the key, if any. */
function providerKeyHeader(standard: string) {
  const isValid = (value: string) => {
    const [name = '', word = 'Token', ...rest] = value.split(': ');
    const isHeader = name.length <= 64 && /^[a-z][a-z0-9-]*$/i.test(name) && !takenHeader.test(name);
    return isHeader && /^[A-Za-z][\w-]{0,31}$/.test(word) && rest.length === 0;
  };
  const rule = 'must be the name of a header that HTTP does not use itself, or <header>: <word>';
  return z._default(z.string().check(z.refine(isValid, rule)), standard);
}

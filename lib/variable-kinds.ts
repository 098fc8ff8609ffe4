import type { Jwks } from 'aws-jwt-verify/jwk';
import * as z from 'zod/mini';
import { isWebAddress } from '@node-registry/registry-rules/web-address';

/* The kinds of values of function variables and stage parameters. */

export function nonEmpty() {
  return z.string().check(z.minLength(1));
}

export function textMatching(pattern: RegExp, rule: string) {
  return z.string().check(z.refine((value) => pattern.test(value), `must ${rule}`));
}

/** Text as `read` understands it, which returns undefined if the text breaks the rule. */
function parsed<Value>(read: (text: string) => Value | undefined, rule: string) {
  const parse = z.transform((input: string, { issues }) => {
    const value = read(input);
    if (value === undefined) issues.push({ code: 'custom', message: `must ${rule}`, input });
    return value as Value;
  });
  return z.pipe(z.string(), parse);
}

/** Entries separated by commas; none by default. */
export function list<Entry>(read: (entry: string) => Entry | undefined, rule = '') {
  const readAll = (text: string) => {
    const texts = text.split(',').flatMap((entry) => entry.trim() || []);
    const entries = texts.map(read);
    return entries.every((entry) => entry !== undefined) ? entries : undefined;
  };
  return z._default(parsed(readAll, rule), []);
}

export function hostName() {
  return textMatching(
    /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{0,58}[a-z0-9])$/,
    'be a lowercase host name',
  );
}

/** The first is the default. */
export function choice<const Values extends [string, ...string[]]>(...values: Values) {
  return z._default(z.enum(values), values[0]);
}

export function count(standard: number, maximum: number) {
  return z._default(wholeNumber(1, maximum), standard);
}

/** A limit that a stage must state. `none` is read as 0: no limit. */
export function limitOrNone() {
  const read = (text: string) => (text === 'none' ? 0 : wholeNumberIn(text, 1, 1_000_000_000));
  return z._default(parsed(read, 'be a whole number from 1 to 1000000000, or none'), 0);
}

/** 0 means no limit. */
export function limit() {
  return z._default(wholeNumber(0, 1_000_000_000), 0);
}

export function wholeNumber(minimum: number, maximum: number) {
  const read = (text: string) => wholeNumberIn(text, minimum, maximum);
  return parsed(read, `be a whole number from ${minimum} to ${maximum}`);
}

function wholeNumberIn(text: string, minimum: number, maximum: number): number | undefined {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return value >= minimum && value <= maximum ? value : undefined;
}

export function claimText() {
  return textMatching(/^[\x21-\x7e]{1,200}$/, 'be 1 to 200 visible characters');
}

export function claimWithValue() {
  return parsed((text) => {
    const [, claim, value] = /^([^\s=]{1,200})=([^\p{C}\p{Z}]{1,200})$/u.exec(text) ?? [];
    return claim && value ? { claim, value } : undefined;
  }, 'be a claim with its value, such as `plan=team`');
}

/** A secret, or a reference: `ssm:<name>` or `secretsmanager:<name>`. Deployments use only references. */
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

/** A URL for people, with these parts in it. */
export function link(...parts: string[]) {
  const isLink = (value: string) =>
    isPeoplesLink(value) && value.length <= 300 && parts.every((part) => value.includes(part));
  return z.string().check(z.refine(isLink, ['must be an https or mailto URL', ...parts].join(' with ')));
}

function isPeoplesLink(value: string): boolean {
  if (/[\s<>"]/.test(value)) return false;
  if (/^mailto:[^@?]+@[^@]+$/.test(value)) return true;
  const url = URL.parse(value);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  return isSafe && url.username === '' && url.password === '';
}

/** URLs by their names. */
export function namedLinks() {
  const rule =
    'be up to 10 names with https or mailto URLs, such as Terms=https://example.com/terms, separated by commas';
  const links = list((entry): [string, string] | undefined => {
    const [, name, url = ''] = /^([^=,]{1,40})=(.+)$/.exec(entry) ?? [];
    return name && isPeoplesLink(url.trim()) ? [name.trim(), url.trim()] : undefined;
  }, rule);
  const isShort = z.refine<[string, string][]>(({ length }) => length <= 10, `must ${rule}`);
  return z.pipe(
    links.check(isShort),
    z.transform((entries: [string, string][]) => Object.fromEntries(entries)),
  );
}

/** A shell's line. Ids and version labels need no quotes in any shell. */
export function installCommand() {
  return textMatching(
    /^(?=.{1,200}$)(?=.*\{id\})(?=.*\{version\})[\x20-\x7e]+$/,
    'be a command on one line with {id} and {version}',
  );
}

/** Another endpoint of an AWS service, such as the local stack's. */
export function endpointUrl() {
  return z.string().check(z.refine(isWebAddress, 'must be an absolute http or https URL'));
}

export function keySet() {
  return parsed((text): Jwks | undefined => {
    try {
      const { keys } = JSON.parse(text);
      const isSet =
        Array.isArray(keys) && keys.length > 0 && keys.every(({ kty }) => typeof kty === 'string');
      return isSet ? JSON.parse(text) : undefined;
    } catch {
      return undefined;
    }
  }, 'be a JSON Web Key Set, {"keys": […]}');
}

export function stateWords() {
  return list((entry) => {
    const [, word, state] = /^([^=,]{1,100})=(created|queueing|processing|success|failed)$/.exec(entry) ?? [];
    return word && state ? { word, state } : undefined;
  }, 'be words with their states, such as `upscaling=processing`, separated by commas');
}

/** The provider's path for the state of a task. Undefined if the provider can't be polled. */
export function taskPath(standard: string) {
  return z.pipe(
    z._default(
      textMatching(/^(?:off|\/[\w./~-]*\{task_id\}[\w./~-]*)$/, 'be a path with {task_id}, or off'),
      standard,
    ),
    z.transform((path) => (path === 'off' ? undefined : path)),
  );
}

export function ciIssuers() {
  return list((entry) => {
    const [name, issuer = '', keySetUrl, ...rest] = entry.split(/\s+/);
    const kind = (['github', 'gitlab'] as const).find((each) => each === name);
    const isComplete = isSecureOrLoopback(issuer) && isSecureOrLoopback(keySetUrl ?? issuer);
    return kind && isComplete && rest.length === 0 ? { kind, issuer, keySetUrl } : undefined;
  }, 'be `github` or `gitlab`, an https address and perhaps another, separated by spaces');
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

/** A row of the operator's rates: the tasks that it covers, and their price. */
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

export function creditRates() {
  const rows = z.array(rateRow());
  const read = (text: string) => {
    try {
      return rows.safeParse(JSON.parse(text), { jitless: true }).data;
    } catch {
      return undefined;
    }
  };
  const rule =
    'be a JSON list of rates such as [{"operation":"textToVideo","model":"vidq3-pro","second":30}]';
  return z._default(parsed(read, rule), []);
}

/** The header of a provider's key, and the word before the key, if any. */
export function providerKeyHeader(standard: string) {
  const isValid = (value: string) => {
    const [name = '', word = 'Token', ...rest] = value.split(': ');
    const isHeader = /^[a-z][a-z0-9-]{0,63}$/i.test(name);
    return isHeader && /^[A-Za-z][\w-]{0,31}$/.test(word) && rest.length === 0;
  };
  const rule = 'must be the name of a header, or <header>: <word>';
  return z._default(z.string().check(z.refine(isValid, rule)), standard);
}

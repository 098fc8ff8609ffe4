import * as z from 'zod/mini';
import { isWebAddress } from './web-address.ts';

/** What a single variable may be. */

export const nonEmpty = z.string().check(z.minLength(1));

/** `required` (the default) or `optional`: whether callers without an access token are let in. */
export const accessTokenSwitch = z._default(z.enum(['required', 'optional']), 'required');

/** An issuer's address is https. Plain http is for an issuer on this same machine, which no deployment has. */
export const secureOrLoopbackUrl = z
  .string()
  .check(z.refine(isSecureOrLoopback, 'must be an https address (http only on localhost)'));

function isSecureOrLoopback(value: string): boolean {
  const url = isWebAddress(value) ? URL.parse(value) : null;
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
}

const isLoopback = (hostname: string) => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

/** Another endpoint of an AWS service, such as the local stack's. */
export const endpointUrl = z.string().check(z.refine(isWebAddress, 'must be an absolute http or https URL'));

export const count = (standard: number) =>
  z._default(z.pipe(z.transform(Number), z.int().check(z.minimum(1))), standard);

export const list = () =>
  z.pipe(
    z._default(z.string(), ''),
    z.transform((text) => text.split(',').flatMap((entry) => entry.trim() || [])),
  );

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

export const ciIssuers = () =>
  z.pipe(
    list().check(
      z.refine(
        (entries) => entries.every(readCiIssuer),
        'must be `github` or `gitlab`, an https address and perhaps another, separated by blanks',
      ),
    ),
    z.transform((entries) => entries.flatMap((entry) => readCiIssuer(entry) ?? [])),
  );

/** A limit; none where it is empty or 0. */
export const limit = z._default(z.pipe(z.transform(Number), z.int().check(z.minimum(0))), 0);

/** Only names by which a task is looked up: any other entry would bound nothing. Relight has no models. */
const ceiling =
  /^(relightImage|(?:textToVideo|extendVideo|multiframeVideo)(?:\/[\w.-]+(?:\/[1-9]\d*)?)?)=(\d{1,15})$/;

export const ceilingsRule = 'be a list such as textToVideo=600,textToVideo/vidq3-pro/16=900, each task once';

/** Of two entries for one task, one would bound nothing either. */
export function isCeilingList(entries: string[]): boolean {
  const tasks = entries.map((entry) => ceiling.exec(entry)?.[1]);
  return !tasks.includes(undefined) && new Set(tasks).size === tasks.length;
}

/** What a task may cost, by an operation, one of its models, or a model and a number of seconds. */
export const creditCeilings = () =>
  z.pipe(
    list().check(z.refine(isCeilingList, `must ${ceilingsRule}`)),
    z.transform((entries) =>
      entries.map((entry): [task: string, credits: number] => {
        const [, task = '', credits] = ceiling.exec(entry) ?? [];
        return [task, Number(credits)];
      }),
    ),
  );

/** Those that HTTP itself reads, and those that every request of ours has. */
const httpHeader =
  /^(?:accept|accept-encoding|connection|content-encoding|content-length|content-type|date|expect|host|keep-alive|proxy-authorization|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i;

export function isKeyHeader(name: string): boolean {
  return /^[a-z][a-z0-9-]*$/i.test(name) && !httpHeader.test(name);
}

export const keyHeaderRule = 'be the name of a header that HTTP does not use itself';

/** The header in which a key or a signature travels. */
export const keyHeader = () => z.string().check(z.refine(isKeyHeader, `must ${keyHeaderRule}`));

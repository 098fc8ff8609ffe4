import { SignatureV4 } from '@smithy/signature-v4';
import * as config from '../config.ts';
import { calling, type Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { isObject, type JsonObject, parseObject } from '../json.ts';
import { describeError, log } from '../log.ts';
import { httpRequest } from '../outgoing/http-request.ts';
import { environmentCredentials, serviceHost, Sha256 } from './signing.ts';

/*
 * One signed POST reads a secret from either store, with the signer that upload URLs already use, instead of two more
 * SDK clients in every function that has a secret.
 */

/** The use of a secret, which decides what characters it may contain. */
type SecretUse = 'header' | 'text';

export interface StoredSecret {
  read: (context: Context) => Promise<string>;
  /**
   * The secret may have been replaced. The next request reads it again, and keeps the old value if that
   * fails: anyone can send a wrong signature, which must not stop other requests while the store is down.
   */
  forget: () => void;
}

const reference = /^(ssm|secretsmanager):(.+)$/;

/** The shortest time between two reads after a rejection, so that a revoked key doesn't flood the store. */
const minRereadIntervalMs = 5000;
const readTimeoutMs = 3000;

/**
 * The secret that a variable contains or refers to, such as a provider's key. A reference is read while the function
 * loads, in parallel with everything else. If that fails, the next request that needs it reads again.
 */
export function storedSecret(value: string, use: SecretUse = 'text'): StoredSecret {
  const [, store, name] = reference.exec(value) ?? [];
  if (store === undefined || name === undefined) return { read: async () => value, forget: () => {} };

  let reading: Promise<string> | undefined;
  let last: string | undefined;
  let readAt = 0;
  const readAgain = async (timeoutMs: number): Promise<string> => {
    try {
      last = await readSecret(store, name, use, timeoutMs);
    } catch (error) {
      if (last === undefined) throw error;
      log('warn', 'secret_kept', { secret: value, ...describeError(error) });
    }
    return last;
  };
  const begin = (timeoutMs: number): Promise<string> => {
    readAt = Date.now();
    reading = readAgain(timeoutMs);
    // The request that needs the secret gets the error. Until then, nothing may await it.
    reading.catch(() => {});
    return reading;
  };
  void begin(readTimeoutMs);

  return {
    read: async (context) => {
      // A read that began before this request may have been interrupted while the function was frozen.
      const earlier = reading;
      const known = await earlier?.catch(() => undefined);
      if (known !== undefined) return known;
      // Another request may have begun a read in the meantime.
      const current =
        reading === undefined || reading === earlier
          ? begin(Math.min(readTimeoutMs, context.deadline - Date.now()))
          : reading;
      return calling(context, `secret ${value}`, () => current).catch((cause: unknown) => {
        throw cause instanceof ApiError ? cause : new ApiError('unavailable', { cause });
      });
    },
    forget: () => {
      if (Date.now() - readAt >= minRereadIntervalMs) reading = undefined;
    },
  };
}

interface SecretStore {
  endpoint: 'AWS_ENDPOINT_URL_SSM' | 'AWS_ENDPOINT_URL_SECRETS_MANAGER';
  target: string;
  request: (name: string) => object;
  read: (reply: JsonObject) => unknown;
}

/** By the services that sign for them. */
const stores: Record<string, SecretStore> = {
  ssm: {
    endpoint: 'AWS_ENDPOINT_URL_SSM',
    target: 'AmazonSSM.GetParameter',
    request: (name) => ({ Name: name, WithDecryption: true }),
    read: ({ Parameter }) => isObject(Parameter) && Parameter.Value,
  },
  secretsmanager: {
    endpoint: 'AWS_ENDPOINT_URL_SECRETS_MANAGER',
    target: 'secretsmanager.GetSecretValue',
    request: (name) => ({ SecretId: name }),
    read: ({ SecretString }) => SecretString,
  },
};

const maxReplyBytes = 256 * 1024;

/** Reads one secret. Errors name the secret and never show it. */
async function readSecret(service: string, name: string, use: SecretUse, timeoutMs: number): Promise<string> {
  const { endpoint, target, request, read } = stores[service] as SecretStore;
  const { AWS_REGION: region, [endpoint]: address } = config.secretStore();
  const url = new URL(address ?? `https://${serviceHost(service, region)}/`);
  const body = JSON.stringify(request(name));
  const signer = new SignatureV4({ service, region, credentials: environmentCredentials, sha256: Sha256 });
  const { headers } = await signer.sign({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    headers: { host: url.host, 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target },
    body,
  });
  const reply = await httpRequest({
    url,
    method: 'POST',
    headers,
    body: Buffer.from(body),
    timeoutMs,
    maxReplyBytes,
  });
  const content = parseObject(reply.body.toString()) ?? {};
  const reference = `${service}:${name}`;
  const answer = [reply.status, errorType(content)].filter(Boolean).join(' ');
  const absence = absences.get(errorType(content));
  if (absence) throw wrongSecret(`${reference} ${absence} in ${region}: ${service} answered ${answer}.`);
  const secret = reply.status === 200 ? read(content) : undefined;
  const text = typeof secret === 'string' ? secret.trim() : undefined;
  const binary = content.SecretBinary === undefined ? undefined : 'is binary, not text.';
  const problem = text === undefined ? binary : problemOf(text, use);
  if (problem) throw wrongSecret(`${reference} ${problem} Store the secret alone, as plain text.`);
  if (text !== undefined) return text;
  throw new Error(`${service} answered ${answer} without a value for ${reference}.`);
}

const absences: ReadonlyMap<string, string> = new Map([
  ['ParameterNotFound', 'does not exist'],
  ['ResourceNotFoundException', 'does not exist'],
  ['InvalidRequestException', 'is scheduled for deletion'],
]);

/** The store may put a namespace before the error's name. */
function errorType({ __type }: JsonObject): string {
  return typeof __type === 'string' ? __type.replace(/^.*#/, '') : '';
}

function problemOf(secret: string, use: SecretUse): string | undefined {
  // Secrets Manager's console creates an object unless its user chooses plain text.
  if (secret.startsWith('{') && parseObject(secret)) return 'is a JSON object, not the secret in it.';
  if (secret === '') return 'is empty.';
  return use === 'text' || isHeaderText.test(secret)
    ? undefined
    : 'has characters that no header can carry, such as a line break or an accented letter.';
}

const isHeaderText = /^[\x20-\x7e]+$/;

/**
 * Retrying doesn't help, so it is an error of the deployment, not an overload. It is logged when the function
 * starts, so operators find it before the first request.
 */
function wrongSecret(sentence: string): ApiError {
  const cause = new Error(sentence);
  log('error', 'secret', describeError(cause));
  return new ApiError('internal_error', { cause, payment: 'rejected' });
}

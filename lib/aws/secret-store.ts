import { SignatureV4 } from '@smithy/signature-v4';
import * as concerns from '../concerns.ts';
import { readEnvironment } from '../environment.ts';
import { ApiError } from '../errors.ts';
import { httpRequest } from '../http-request.ts';
import { isObject, type JsonObject } from '../json-object.ts';
import { describeError, log } from '../log.ts';
import { environmentCredentials } from './credentials.ts';
import { serviceHost } from './endpoints.ts';
import { Sha256 } from './sha256.ts';

/*
 * One signed POST reads a secret, with the signer that the upload URLs already use. A client of the SDK for
 * either store would be many times the size of a whole proxy function. This module is loaded only where a secret
 * is given by reference.
 */
const environment = readEnvironment(concerns.secretStore);

interface SecretStore {
  service: string;
  endpoint: string | undefined;
  target: string;
  request: (name: string) => object;
  read: (reply: JsonObject) => unknown;
}

const stores: Record<string, SecretStore> = {
  ssm: {
    service: 'ssm',
    endpoint: environment.AWS_ENDPOINT_URL_SSM,
    target: 'AmazonSSM.GetParameter',
    request: (name) => ({ Name: name, WithDecryption: true }),
    read: ({ Parameter }) => isObject(Parameter) && Parameter.Value,
  },
  secretsmanager: {
    service: 'secretsmanager',
    endpoint: environment.AWS_ENDPOINT_URL_SECRETS_MANAGER,
    target: 'secretsmanager.GetSecretValue',
    request: (name) => ({ SecretId: name }),
    read: ({ SecretString }) => SecretString,
  },
};

const maxReplyBytes = 256 * 1024;

/** Reads one secret; fails with a sentence that names it, and never shows it. */
export async function readSecret(store: string, name: string, timeoutMs: number): Promise<string> {
  const { service, endpoint, target, request, read } = stores[store] as SecretStore;
  const url = new URL(endpoint ?? `https://${serviceHost(service, environment.AWS_REGION)}/`);
  const body = JSON.stringify(request(name));
  const signer = new SignatureV4({
    service,
    region: environment.AWS_REGION,
    credentials: environmentCredentials,
    sha256: Sha256,
  });
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
  const content = parseObject(reply.body);
  const reference = `${store}:${name}`;
  const answer = [reply.status, errorType(content)].filter(Boolean).join(' ');
  if (missing.has(errorType(content)))
    throw wrongSecret(
      `${reference} does not exist in ${environment.AWS_REGION}: ${service} answered ${answer}.`,
    );
  const secret = reply.status === 200 ? read(content) : undefined;
  const problem = problemOf(secret, content);
  if (problem) throw wrongSecret(`${reference} ${problem} Store the key alone, as plain text.`);
  if (typeof secret === 'string') return secret.trim();
  throw new Error(`${service} answered ${answer} without a value for ${reference}.`);
}

const missing: ReadonlySet<string> = new Set(['ParameterNotFound', 'ResourceNotFoundException']);

/** The store may put the name of a namespace before that of the error. */
function errorType({ __type }: JsonObject): string {
  return typeof __type === 'string' ? __type.replace(/^.*#/, '') : '';
}

/** What is wrong with a value that is stored; undefined for one that can be a key, and where there is none. */
function problemOf(secret: unknown, { SecretBinary }: JsonObject): string | undefined {
  if (typeof secret !== 'string')
    return SecretBinary === undefined ? undefined : 'is binary, which no header can carry.';
  if (isJsonObject(secret)) return 'is a JSON object, which no provider takes as its key.';
  if (secret.trim() === '') return 'is empty.';
  if (!isHeaderText.test(secret.trim()))
    return 'has characters that no header can carry, such as a line break or an accented letter.';
  return undefined;
}

/**
 * No repetition cures it, so it is an error of the deployment, not an overload. It is logged when the function starts:
 * nobody has to wait for a request to learn that none will succeed.
 */
function wrongSecret(sentence: string): ApiError {
  const cause = new Error(sentence);
  log('error', 'provider_key', describeError(cause));
  return new ApiError('internal_error', { cause, payment: 'none' });
}

/** Secrets Manager's console makes one unless its user chooses plain text. */
function isJsonObject(secret: string): boolean {
  return secret.trim().startsWith('{') && parseObject(Buffer.from(secret)) !== notAnObject;
}

const isHeaderText = /^[\x20-\x7e]+$/;

const notAnObject: JsonObject = {};

/** The parser's own error quotes what it could not read, which must not get into a log. */
function parseObject(body: Buffer): JsonObject {
  try {
    const content: unknown = JSON.parse(body.toString());
    return isObject(content) ? content : notAnObject;
  } catch {
    return notAnObject;
  }
}

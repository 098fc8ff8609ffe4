import { SignatureV4 } from '@smithy/signature-v4';
import * as config from '../config.ts';
import { ApiError } from '../errors.ts';
import { httpRequest } from '../outgoing/http-request.ts';
import { isObject, type JsonObject } from '../json.ts';
import { describeError, log } from '../log.ts';
import { environmentCredentials, serviceHost, Sha256 } from './signing.ts';

/*
 * One signed POST reads a secret, with the signer that upload URLs already use. An SDK client for either store would be
 * many times the size of a whole proxy function. This module is loaded only if a secret is given by reference.
 */
/** The use of a secret, which decides what characters it may contain. */
export type SecretUse = 'header' | 'text';

interface SecretStore {
  service: string;
  endpoint: () => string | undefined;
  target: string;
  request: (name: string) => object;
  read: (reply: JsonObject) => unknown;
}

const stores: Record<string, SecretStore> = {
  ssm: {
    service: 'ssm',
    endpoint: () => config.secretStore().AWS_ENDPOINT_URL_SSM,
    target: 'AmazonSSM.GetParameter',
    request: (name) => ({ Name: name, WithDecryption: true }),
    read: ({ Parameter }) => isObject(Parameter) && Parameter.Value,
  },
  secretsmanager: {
    service: 'secretsmanager',
    endpoint: () => config.secretStore().AWS_ENDPOINT_URL_SECRETS_MANAGER,
    target: 'secretsmanager.GetSecretValue',
    request: (name) => ({ SecretId: name }),
    read: ({ SecretString }) => SecretString,
  },
};

const maxReplyBytes = 256 * 1024;

/** Reads one secret. Errors name the secret and never show it. */
export async function readSecret(
  store: string,
  name: string,
  use: SecretUse,
  timeoutMs: number,
): Promise<string> {
  const { service, endpoint, target, request, read } = stores[store] as SecretStore;
  const region = config.secretStore().AWS_REGION;
  const url = new URL(endpoint() ?? `https://${serviceHost(service, region)}/`);
  const body = JSON.stringify(request(name));
  const signer = new SignatureV4({
    service,
    region,
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
  const absence = absences.get(errorType(content));
  if (absence) throw wrongSecret(`${reference} ${absence} in ${region}: ${service} answered ${answer}.`);
  const secret = reply.status === 200 ? read(content) : undefined;
  const text = typeof secret === 'string' ? secret.trim() : undefined;
  const problem = text === undefined ? binaryProblem(content) : textProblem(text, use);
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

function binaryProblem({ SecretBinary }: JsonObject): string | undefined {
  return SecretBinary === undefined ? undefined : 'is binary, not text.';
}

function textProblem(secret: string, use: SecretUse): string | undefined {
  if (isJsonObject(secret)) return 'is a JSON object, not the secret in it.';
  if (secret === '') return 'is empty.';
  return use === 'text' || isHeaderText.test(secret)
    ? undefined
    : 'has characters that no header can carry, such as a line break or an accented letter.';
}

const isHeaderText = /^[\x20-\x7e]+$/;

/**
 * Retrying does not help, so it is an error of the deployment, not an overload. It is logged when the function starts,
 * so that no request is needed to find it.
 */
function wrongSecret(sentence: string): ApiError {
  const cause = new Error(sentence);
  log('error', 'secret', describeError(cause));
  return new ApiError('internal_error', { cause, payment: 'refused' });
}

/** Secrets Manager's console creates one unless its user chooses plain text. */
function isJsonObject(secret: string): boolean {
  return secret.startsWith('{') && parseObject(Buffer.from(secret)) !== notAnObject;
}

const notAnObject: JsonObject = {};

/** The parser's error quotes its input, which must not be logged. */
function parseObject(body: Buffer): JsonObject {
  try {
    const content: unknown = JSON.parse(body.toString());
    return isObject(content) ? content : notAnObject;
  } catch {
    return notAnObject;
  }
}

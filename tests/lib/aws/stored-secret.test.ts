import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { storedSecret } from '../../../lib/aws/stored-secret.ts';
import { stopDate, stopTimers } from '@node-registry/testing/clock';
import { loggedLines } from '../../support/logged-lines.ts';
import { serve } from '../../support/serve.ts';
import { outwait, startSilentServer } from '../../support/silent-server.ts';
import { until } from '@node-registry/testing/until';
import { setVariables } from '../../support/variables.ts';

interface Asked {
  method: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

const asked: Asked[] = [];
let answer: { status: number; content: object | string } | 'never' = { status: 200, content: {} };

/** Stands in for both stores, which differ only in the name of the action and the shape of its answer. */
const store = await serve(async (request, response) => {
  const { method, headers } = request;
  asked.push({ method, headers, body: await text(request) });
  if (answer === 'never') return;
  const { status, content } = answer;
  response.writeHead(status).end(typeof content === 'string' ? content : JSON.stringify(content));
});
const { url: address } = store;
setVariables({ AWS_ENDPOINT_URL_SSM: address, AWS_ENDPOINT_URL_SECRETS_MANAGER: address });

const holdsParameter = (value: string) => {
  answer = { status: 200, content: { Parameter: { Name: '/node-registry/key', Value: value } } };
};
const soon = () => ({ deadline: Date.now() + 5000 });

beforeEach(() => {
  asked.length = 0;
});

test.each(['plain', 'ssm:', 'vault:/key', 'a-ssm:/key', 'ssm:/key\nand more'])(
  'a literal secret is read as %j and never forgotten',
  async (value) => {
    const key = storedSecret(value);
    key.forget();

    expect([await key.read(soon()), asked]).toEqual([value, []]);
  },
);

describe('a secret by reference', () => {
  const contents = { Parameter: { Value: 'from-ssm' }, SecretString: 'from-secrets-manager\n' };

  test.each([
    ['ssm:/key', 'AmazonSSM.GetParameter', 'from-ssm', { Name: '/key', WithDecryption: true }],
    ['secretsmanager:a/key', 'secretsmanager.GetSecretValue', 'from-secrets-manager', { SecretId: 'a/key' }],
  ])('reads %s by one signed request', async (reference, target, secret, body) => {
    answer = { status: 200, content: contents };

    expect(await storedSecret(reference).read(soon())).toBe(secret);
    const [request] = asked as [Asked];
    const [service] = reference.split(':');
    expect([asked.length, request.method, JSON.parse(request.body)]).toEqual([1, 'POST', body]);
    expect(request.headers).toMatchObject({
      'x-amz-target': target,
      'content-type': 'application/x-amz-json-1.1',
      // AWS's own signer signs this, with the values that we pass to it.
      authorization: expect.stringMatching(
        new RegExp(`/us-east-1/${service}/aws4_request, SignedHeaders=content-type;host;.*x-amz-target, `),
      ),
    });
  });

  test('reads a secret once, while the function loads', async () => {
    holdsParameter('early');
    const key = storedSecret('ssm:/node-registry/key');
    await until(() => asked.length > 0);

    await Promise.all([key.read(soon()), key.read(soon())]);
    await key.read(soon());
    expect(asked).toHaveLength(1);
  });

  test('does not end a function if a secret that no request has needed yet cannot be read', async () => {
    answer = { status: 500, content: {} };
    storedSecret('ssm:/unread');
    const other = storedSecret('ssm:/key');

    // Jest fails a test that leaves a rejection without a handler, as Lambda ends the function.
    await expect(other.read(soon())).rejects.toMatchObject({ code: 'unavailable' });
    await until(() => asked.length >= 3);
    expect(asked).toHaveLength(3);
  });

  test('waits three seconds for a store at start, and again in the request that needs the secret', async () => {
    const silent = await startSilentServer();
    setVariables({ AWS_ENDPOINT_URL_SSM: silent.url });
    const reading = () => storedSecret('ssm:/key').read({ deadline: Date.now() + 60_000 });
    const { error, ms } = await outwait(silent, reading, { leapMs: 2900, maxMs: 20_000 });

    expect([silent.asked, error]).toEqual([2, expect.objectContaining({ code: 'unavailable' })]);
    expect(ms).toBeGreaterThanOrEqual(6000);
    expect(ms).toBeLessThan(7000);
  });

  const noHeader = 'has characters that no header can carry, such as a line break or an accented letter.';
  const jsonObject = 'is a JSON object, not the secret in it.';
  const deleted = { __type: 'InvalidRequestException', message: 'It was marked for deletion.' };
  const namespaced = { __type: 'com.amazonaws.secretsmanager#ResourceNotFoundException' };

  test.each<[string, string, object]>([
    [jsonObject, 'ssm', { Parameter: { Value: '{"api-key": "hidden"}' } }],
    [jsonObject, 'secretsmanager', { SecretString: ' {\n"api-key": "hidden"}\n' }],
    ['is empty.', 'ssm', { Parameter: { Value: '' } }],
    [noHeader, 'secretsmanager', { SecretString: 'hidden\nlines' }],
    ['is binary, not text.', 'secretsmanager', { SecretBinary: 'aGlkZGVu' }],
    ['does not exist', 'ssm', { __type: 'ParameterNotFound' }],
    ['does not exist', 'secretsmanager', namespaced],
    // https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
    ['is scheduled for deletion', 'secretsmanager', deleted],
  ])('reports at start that it %s, by %s, and not as an overload: %j', async (problem, service, content) => {
    const type = '__type' in content ? String(content.__type).replace(/.*#/, '') : undefined;
    answer = { status: type ? 400 : 200, content };
    loggedLines.length = 0;
    const key = storedSecret(`${service}:prod/key`, 'header');
    await until(() => loggedLines.length > 0);

    const more = type
      ? ` in us-east-1: ${service} answered 400 ${type}.`
      : ' Store the secret alone, as plain text.';
    const sentence = `${service}:prod/key ${problem}${more}`;
    expect(loggedLines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', event: 'secret', causes: [`Error: ${sentence}`] },
    ]);
    expect(loggedLines.join()).not.toMatch(/hidden|aGlkZGVu/);
    await expect(key.read(soon())).rejects.toMatchObject({
      code: 'internal_error',
      payment: 'rejected',
      cause: new Error(sentence),
    });
    answer = { status: 200, content: { Parameter: { Value: 'plain' }, SecretString: 'plain' } };
    expect(await key.read(soon())).toBe('plain');
  });

  test.each(['{', '{not json}', 'one line\nand another', 'clé'])(
    'takes the value %j as it is',
    async (value) => {
      holdsParameter(`\n${value}\n`);
      expect(await storedSecret('ssm:/key').read(soon())).toBe(value);
    },
  );

  test.each<[object | string, number?]>([
    [{}, 200],
    [{ Parameter: { Value: 7 } }, 200],
    ['null', 200],
    [{ Parameter: { Value: 'no key' } }, 400],
    ['{"Parameter":{"Value":"half a sec', 200],
  ])('reports a missing secret in the answer %j with status %i', async (content, status = 200) => {
    answer = { status, content };

    await expect(storedSecret('ssm:/key').read(soon())).rejects.toMatchObject({
      code: 'unavailable',
      cause: new Error(`ssm answered ${status} without a value for ssm:/key.`),
    });
  });
});

describe('a key that may have been replaced', () => {
  test('is not read again within five seconds of the last read', async () => {
    stopDate();
    holdsParameter('old-key');
    const key = storedSecret('ssm:/key', 'header');
    await key.read(soon());
    holdsParameter('new-key');
    const found = [];
    for (const ms of [4999, 1]) {
      stopDate(Date.now() + ms);
      key.forget();
      found.push(await key.read(soon()));
    }

    expect(found).toEqual(['old-key', 'new-key']);
  });

  test.each<[string, typeof answer]>([
    ['answers an error', { status: 500, content: {} }],
    ['is throttled', { status: 400, content: { __type: 'ThrottlingException' } }],
    ['answers an object', { status: 200, content: { Parameter: { Value: '{"key": 1}' } } }],
    ['does not answer', 'never'],
  ])('keeps its value while the store %s, says so, and is read again later', async (_, failing) => {
    holdsParameter('old-key');
    const key = storedSecret('ssm:/key');
    await key.read(soon());
    stopTimers();
    const forgetLater = () => {
      jest.advanceTimersByTime(10_000);
      key.forget();
    };
    loggedLines.length = 0;
    answer = failing;
    forgetLater();
    const all = [1, 2, 3].map(() => key.read({ deadline: Date.now() + 300 }));
    await until(() => asked.length >= 2);
    if (failing === 'never') jest.advanceTimersByTime(300);

    expect(await Promise.all(all)).toEqual(['old-key', 'old-key', 'old-key']);
    expect(await key.read(soon())).toBe('old-key');
    expect(asked).toHaveLength(2);
    expect(loggedLines.map((line) => JSON.parse(line)).at(-1)).toEqual({
      level: 'warn',
      event: 'secret_kept',
      secret: 'ssm:/key',
      causes: expect.any(Array),
      stack: expect.any(String),
    });
    holdsParameter('new-key');
    forgetLater();
    expect(await key.read(soon())).toBe('new-key');
  });
});

import { request } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { isListening } from '@node-registry/command-line/is-listening';
import { directory } from '@node-registry/testing/folders';
import { startDynamoDb } from '../../tools/local/dynamodb.ts';
import { createSigningKey, startIssuer } from '../../tools/local/issuer.ts';
import { startPages } from '../../tools/local/pages.ts';
import { createRequestLog } from '../../tools/local/request-log.ts';
import { startS3 } from '../../tools/local/s3.ts';
import { startSqs } from '../../tools/local/sqs.ts';
import { startSimulators } from '../../tools/simulators/start-simulators.ts';
import { untilEnd } from '../support/serve.ts';

const simulators = await startSimulators();
const s3 = await startS3(0, directory, 'bucket');
const sqs = await startSqs(0, {});
const issuer = await startIssuer(0, createSigningKey());
const requests = createRequestLog({ write: () => true });
const pages = await startPages({ port: 0, apiUrl: 'http://localhost:1', tokens: {}, requests });
const dynamodbUrl = String(process.env.AWS_ENDPOINT_URL_DYNAMODB);

for (const part of [simulators, s3, sqs, issuer, pages]) untilEnd(part);

/** Over plain HTTP, because fetch does not let a caller set the Host header. */
function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (answer) => {
      answer.resume();
      resolve(Number(answer.statusCode));
    });
    sent.on('error', reject).end();
  });
}

describe.each([
  ['DynamoDB', dynamodbUrl, 200],
  ['S3', `${s3.url}/bucket/archives/a.zip`, 404],
  ['SQS', sqs.url, 400],
  ['issuer', `${issuer.url}/signing-key`, 200],
  ['provider simulators', `${simulators.url}/control/record`, 200],
  ['studio', `${pages.url}/reference/openapi.json`, 200],
])('the local %s', (_, url, status) => {
  const { host, port } = new URL(url);

  test.each([
    [{}, status],
    [{ host: `127.0.0.1:${port}` }, status],
    [{ host: `localhost.example.com:${port}` }, 421],
    [{ host, origin: `http://localhost.example.com:${port}` }, 403],
    [{ host, origin: 'null' }, 403],
  ])('answers a request with %j by who sends it', async (headers: Record<string, string>, expected) => {
    expect(await statusOf(url, headers)).toBe(expected);
  });
});

test('hides the embedded DynamoDB behind the local one at 127.0.0.1', async () => {
  const { hostname, port } = new URL(untilEnd(await startDynamoDb()).url);
  const found = await isListening(`http://127.0.0.1:${port}`, 1000);

  expect(hostname).toMatch(/^127\./);
  expect(found).toBe(process.platform === 'darwin');
});

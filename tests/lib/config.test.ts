import { expect, test } from '@jest/globals';
import { variables } from '../../infra/parameters/parameters.ts';
import * as config from '../../lib/config.ts';

// What a stage may set, by the schemas of the same variables: tests/infra/parameters.test.ts.
test('a function needs only these variables, and has defaults of the others', () => {
  const needed = Object.entries(variables).filter(([, { schema }]) => !schema.safeParse(undefined).success);

  expect(needed.map(([name]) => name).sort()).toEqual([
    ...['AWS_REGION', 'BUCKET_NAME', 'IMAGE_PROVIDER_KEY', 'IMAGE_PROVIDER_URL'],
    ...['INDEX_QUEUE_URL', 'LOG_BUCKET_NAME', 'NOTIFICATION_SIGNING_KEY', 'NOTIFICATION_URL'],
    ...['TABLE_NAME', 'TOKEN_AUDIENCE', 'TOKEN_ISSUER', 'TOKEN_KEY_SET_URL'],
    ...['VIDEO_PROVIDER_KEY', 'VIDEO_PROVIDER_URL', 'WORK_QUEUES'],
  ]);
  config.configure({});
  expect(config.publishing().MAX_PENDING_VERSIONS).toBe(100);
});

test.each([undefined, ''])('stops a function whose variables are %j, and names them', (value) => {
  config.configure({ IMAGE_PROVIDER_URL: 'http://a.example.com', IMAGE_PROVIDER_KEY: value });

  expect(() => config.imageProvider()).toThrow(
    new Error(
      'The environment is not valid. IMAGE_PROVIDER_URL: must be an https address without a query or user (http only on localhost); IMAGE_PROVIDER_KEY: is required',
    ),
  );
});

// Only a local stack sets these, or nobody does.
test.each<[name: string, good: string, bad: string]>([
  [
    'TOKEN_ISSUER',
    'http://localhost:3001|http://127.0.0.1:3001/jwks.json|http://[::1]:1',
    'http://localhost.example.com|ftp://localhost/|http://:x@localhost|http://localhost?a|localhost',
  ],
  ['AWS_ENDPOINT_URL_S3', 'http://192.168.0.7:4566|https://s3.example.com', 'localhost:4566|ftp://a.b'],
  ['METRICS_NAMESPACE', 'node-registry/prod', `AWS/Lambda|a b|${'x'.repeat(256)}`],
  ['NOTIFY_LOCALHOST', 'rejected|accepted', 'yes'],
  ['MAX_PENDING_VERSIONS', '1|1000', '0|1001|1.5|1e3|-3'],
])('%s may be %s, and not %s', (name, good, bad) => {
  const taken = (value: string) => variables[name]?.schema.safeParse(value).success;

  expect([good, bad].map((values) => values.split('|').filter(taken))).toEqual([good.split('|'), []]);
});

import { describe, expect, test } from '@jest/globals';
import * as config from '../../lib/config.ts';

const { configure, ...concerns } = { ...config };

type Concern = {
  [Name in keyof typeof config]: (typeof config)[Name] extends config.Concern ? Name : never;
}[keyof typeof config];

/** The minimum that a function needs to start. */
const needed = {
  tokens: {
    TOKEN_ISSUER: 'https://issuer.example.com/',
    TOKEN_AUDIENCE: 'node-registry',
    TOKEN_KEY_SET_URL: 'https://issuer.example.com/jwks.json',
  },
  ci: {},
  metrics: {},
  registry: { TABLE_NAME: 'nodes' },
  publishing: {},
  bucket: { AWS_REGION: 'eu-west-1', BUCKET_NAME: 'archives' },
  downloads: {},
  archives: {},
  site: {},
  distribution: {},
  downloadLogs: { LOG_BUCKET_NAME: 'archives-logs' },
  indexQueue: { INDEX_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/1/index' },
  imageProvider: { IMAGE_PROVIDER_URL: 'https://image.example.com', IMAGE_PROVIDER_KEY: 'ssm:/image' },
  videoProvider: { VIDEO_PROVIDER_URL: 'https://video.example.com', VIDEO_PROVIDER_KEY: 'ssm:/video' },
  spending: {},
  stageBudget: {},
  proxyAccess: {},
  signIn: {},
  selfService: {},
  notifications: {},
  results: {},
  taskWords: {},
  polls: {},
  watchedSite: {},
  relay: { NOTIFICATION_URL: 'https://api.example.com/notifications' },
  work: { WORK_QUEUES: 'https://sqs.eu-west-1.amazonaws.com/1/stage-' },
  deliveries: { NOTIFICATION_SIGNING_KEY: 'ssm:/signing' },
  receivers: {},
  videoRules: {},
  secretStore: { AWS_REGION: 'eu-west-1' },
} as const satisfies Record<Concern, Record<string, string>>;

describe('a concern of the environment', () => {
  test.each(Object.keys(needed) as Concern[])(
    '%s needs only its required variables; docs/configuration.md has the defaults of the rest',
    (concern) => {
      configure(needed[concern]);

      expect(concerns[concern]()).toMatchObject(needed[concern]);
    },
  );

  test.each(
    Object.entries(needed).flatMap(([concern, values]) =>
      Object.keys(values).flatMap((name) => [
        [concern as Concern, name, 'is missing', undefined] as const,
        [concern as Concern, name, 'is empty', ''] as const,
      ]),
    ),
  )('%s stops the function, naming the variable, when %s %s', (concern, name, _, value) => {
    configure({ ...needed[concern], [name]: value });

    expect(() => concerns[concern]()).toThrow(
      new Error(`The environment is not valid. ${name}: is required`),
    );
  });
});

describe('a variable of the environment', () => {
  test.each([
    ['tokens', 'TOKEN_ISSUER', 'http://localhost:3001'],
    ['tokens', 'TOKEN_KEY_SET_URL', 'http://127.0.0.1:3001/jwks.json'],
    ['bucket', 'AWS_ENDPOINT_URL_S3', 'http://192.168.0.7:4566'],
    ['downloads', 'DOWNLOAD_BASE_URL', 'https://cdn.example.com/nodes'],
    ['imageProvider', 'IMAGE_PROVIDER_URL', 'http://localhost:3003/image'],
    ['imageProvider', 'IMAGE_PROVIDER_KEY_HEADER', 'authorization'],
    ['videoProvider', 'VIDEO_PROVIDER_KEY_HEADER', 'authorization: Bearer'],
    ['videoProvider', 'VIDEO_PROVIDER_MODEL_PREFIX', 'viduq'],
    ['secretStore', 'AWS_ENDPOINT_URL_SSM', 'http://localhost:4566'],
    ['secretStore', 'AWS_ENDPOINT_URL_SECRETS_MANAGER', 'https://secrets.example.com'],
  ] as const)('accepts in %s, as %s, the value %s', (concern, name, value) => {
    configure({ ...needed[concern], [name]: value });

    expect(concerns[concern]()).toMatchObject({ [name]: value });
  });

  const address = 'must be an https address without a query or user (http only on localhost)';
  const endpoint = 'must be an absolute http or https URL';
  const issuers = 'must be `github` or `gitlab`, an https address and perhaps another, separated by spaces';

  const header = 'must be the name of a header that HTTP does not use itself, or <header>: <word>';

  test.each([
    ['tokens', 'TOKEN_ISSUER', 'issuer.example.com', address],
    ['tokens', 'TOKEN_ISSUER', 'ftp://localhost/', address],
    ['tokens', 'TOKEN_ISSUER', 'https://user@issuer.example.com', address],
    ['tokens', 'TOKEN_ISSUER', 'https://:x@issuer.example.com', address],
    ['tokens', 'TOKEN_ISSUER', 'https://issuer.example.com?a', address],
    ['tokens', 'TOKEN_KEY_SET', '{"keys":[]}', 'must be a JSON Web Key Set, {"keys": […]}'],
    ['tokens', 'TOKEN_KEY_SET', '{', 'must be a JSON Web Key Set, {"keys": […]}'],
    ['tokens', 'TOKEN_KEY_SET_URL', 'http://localhost.example.com/jwks.json', address],
    ['imageProvider', 'IMAGE_PROVIDER_URL', 'http://image.example.com', address],
    ['bucket', 'AWS_ENDPOINT_URL_S3', 'localhost:4566', endpoint],
    ['tokens', 'PUBLISH_ACCESS_TOKEN', 'no', 'must be one of required, optional'],
    [
      ...(['metrics', 'METRICS_NAMESPACE', 'AWS/Lambda'] as const),
      'must be up to 255 letters, digits and ._/#:- and not begin with AWS/',
    ],
    ['receivers', 'NOTIFY_LOCALHOST', 'yes', 'must be one of rejected, accepted'],
    ['videoRules', 'VIDEO_EXTEND_SOURCE', 'neither', 'must be one of both, either'],
    ['ci', 'CI_ISSUERS', 'jenkins https://ci.example.com', issuers],
    ['ci', 'CI_ISSUERS', 'github', issuers],
    ['ci', 'CI_ISSUERS', 'github http://ci.example.com', issuers],
    ['ci', 'CI_ISSUERS', 'gitlab https://a.example.com http://a.example.com/keys', issuers],
    ['ci', 'CI_ISSUERS', 'gitlab https://a.example.com https://a.example.com/keys github', issuers],
    ['archives', 'MAX_ARCHIVE_BYTES', '0', 'must be a whole number from 1 to 1000000000'],
    ['archives', 'MAX_ARCHIVE_BYTES', '1.5', 'must be a whole number from 1 to 1000000000'],
    ['publishing', 'MAX_PENDING_VERSIONS', '1001', 'must be a whole number from 1 to 1000'],
    ['publishing', 'MAX_NEW_NODES_PER_DAY', '1000000001', 'must be a whole number from 0 to 1000000000'],
    ['archives', 'MAX_ARCHIVE_BYTES', '1e3', 'must be a whole number from 1 to 1000000000'],
    ['archives', 'MAX_ARCHIVE_BYTES', '-3', 'must be a whole number from 1 to 1000000000'],
    ['imageProvider', 'IMAGE_PROVIDER_KEY_HEADER', 'Host', header],
    ['videoProvider', 'VIDEO_PROVIDER_KEY_HEADER', 'content-length: a', header],
  ] as const)('rejects in %s, as %s, the value %s', (concern, name, value, reason) => {
    configure({ ...needed[concern], [name]: value });

    expect(() => concerns[concern]()).toThrow(new Error(`The environment is not valid. ${name}: ${reason}`));
  });

  test.each(
    'accept accept-encoding connection content-encoding content-length content-type date expect host keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade X-Amzn-Remapped-Date'.split(
      ' ',
    ),
  )('rejects the header %s for a key', (name) => {
    configure({ ...needed.imageProvider, IMAGE_PROVIDER_KEY_HEADER: name });

    expect(() => config.imageProvider()).toThrow(header);
  });

  test('has a default that no document states: how many versions wait, and how often a provider is asked', () => {
    configure({});

    expect(config.publishing().MAX_PENDING_VERSIONS).toBe(100);
  });

  test('reads issuers with their kinds and the addresses of their key sets', () => {
    configure({
      CI_ISSUERS: 'gitlab https://git.example.com,github  http://localhost:3001 http://localhost:3001/keys',
    });

    expect(config.ci().CI_ISSUERS).toEqual([
      { kind: 'gitlab', issuer: 'https://git.example.com', keySetUrl: undefined },
      { kind: 'github', issuer: 'http://localhost:3001', keySetUrl: 'http://localhost:3001/keys' },
    ]);
  });
});

import { randomUUID } from 'node:crypto';
import { namedKey } from './roles.ts';

const id = randomUUID();

/** The environment of a function, as serverless.yml sets it locally. Each test file has its own table and bucket. */
Object.assign(process.env, {
  AWS_REGION: 'us-east-1',
  AWS_SECRET_ACCESS_KEY: 'LOCALSECRETKEY',
  TABLE_NAME: `test-${id}`,
  BUCKET_NAME: `archives-${id}`,
  TOKEN_ISSUER: 'http://localhost:3001',
  TOKEN_AUDIENCE: 'node-registry',
  IMAGE_PROVIDER_URL: 'http://localhost:3003/image',
  IMAGE_PROVIDER_KEY: 'image-key-of-the-tests',
  VIDEO_PROVIDER_URL: 'http://localhost:3003/video',
  VIDEO_PROVIDER_KEY: 'video-key-of-the-tests',
  NOTIFICATION_SIGNING_KEY: 'TheKeyOfTheTests'.repeat(4),
  // Relaying is the default, and has tests of its own.
  NOTIFICATIONS: 'direct',
  NOTIFY_LOCALHOST: 'accepted',
  // A test file has few publishers and many versions.
  MAX_PENDING_VERSIONS: '1000',
  CREDIT_RATES: JSON.stringify([
    { operation: 'textToVideo', task: 74 },
    { operation: 'multiframeVideo', task: 10, frame: 5 },
  ]),
});

let key = 'LOCALACCESSKEY';
Object.defineProperty(process.env, 'AWS_ACCESS_KEY_ID', {
  get: () => namedKey(key),
  set: (given) => {
    key = given;
  },
  enumerable: true,
  configurable: true,
});

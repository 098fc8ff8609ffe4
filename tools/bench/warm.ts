import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { type Figure, inTurns, ratio } from './figures.ts';
import { readEvent } from './servers.ts';

type Handler = (event: unknown, context: object) => Promise<unknown>;

const context = { getRemainingTimeInMillis: () => 29_000 };

const tasksPerRound = 40;
const callsPerTask = 50;
const warmUpRounds = 10;

/** The cost of everything around a handler, relative to the same endpoint written by hand. */
export async function measureWarm(files: { ours: string; byHand: string }, rounds: number): Promise<Figure> {
  const event = JSON.stringify(await readEvent('text-to-video'));
  const runOf = async (file: string) => {
    const { handler } = (await import(pathToFileURL(file).href)) as { handler: Handler };
    return async () => {
      let sum = 0;
      for (let task = 0; task < tasksPerRound; task += 1) {
        // Each request is a task of its own, so that its garbage can be freed between requests.
        await setImmediate();
        // As Lambda passes them: parsed, and a new object each time.
        const events = Array.from({ length: callsPerTask }, () => JSON.parse(event));
        sum += await cpuOf(callsPerTask, () => handler(events.pop(), context));
      }
      return sum / tasksPerRound;
    };
  };
  const runs = { ours: await runOf(files.ours), byHand: await runOf(files.byHand) };
  return quietly(async () => {
    await inTurns(warmUpRounds, runs);
    const { ours, byHand } = await inTurns(rounds, runs);
    return ratio('warm endpoint', ours, byHand, { reach: 2 });
  });
}

/** The work of a proxy on an image of 5 MB before it is sent, relative to JSON.parse of the same body. */
export async function measureLargeBody(rounds: number): Promise<Figure> {
  const { parseJsonBody } = await import('../../lib/http/json-body.ts');
  const { RelightRequest } = await import('../../lib/contracts/relight-image.ts');
  const body = JSON.stringify({ image: 'A'.repeat(5 * 1024 * 1024), prompt: 'A lamp from the left' });
  const event = { body, headers: {} };
  const runs = {
    ours: () => cpuOf(20, async () => RelightRequest.parse(parseJsonBody(event))),
    plain: () => cpuOf(20, async () => JSON.parse(body)),
  };
  await inTurns(3, runs);
  const { ours, plain } = await inTurns(rounds, runs);
  return ratio('5 MB relight, parse and validate', ours, plain, { reach: 1.3 });
}

/** A signed upload, relative to the way in the SDK's documentation. */
export async function measureSigning(rounds: number): Promise<Figure> {
  const { signUpload } = await import('../../lib/bucket/signed-upload.ts');
  const { bucketName, s3 } = await import('../../lib/bucket/bucket.ts');
  const key = 'staging/node/1.0.0/id/upload.zip';
  const command = () =>
    new PutObjectCommand({ Bucket: bucketName(), Key: key, ContentType: 'application/zip' });
  const runs = {
    ours: () => cpuOf(200, () => signUpload(key)),
    usual: () => cpuOf(200, () => getSignedUrl(s3(), command(), { expiresIn: 900 })),
  };
  await inTurns(warmUpRounds, runs);
  const { ours, usual } = await inTurns(rounds, runs);
  return ratio('presign over getSignedUrl', ours, usual, { reach: 0.15 });
}

/** Work without waits is measured in CPU time, which other programs do not affect. */
async function cpuOf(times: number, work: () => Promise<unknown>): Promise<number> {
  const began = process.cpuUsage();
  for (let index = 0; index < times; index += 1) await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / times;
}

/** The functions write their log lines, which count, but are not shown. */
async function quietly<Result>(work: () => Promise<Result>): Promise<Result> {
  const { write } = process.stdout;
  process.stdout.write = () => true;
  try {
    return await work();
  } finally {
    process.stdout.write = write;
  }
}

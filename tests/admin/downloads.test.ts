import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { HttpServer } from '../../tools/processes/http-server.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { archiveKey, objectUrl, type Upload } from '../../lib/bucket/object-keys.ts';
import { seed } from '../../tools/local/seed.ts';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { admin } from '../support/admin.ts';
import { intercept } from '../support/intercept.ts';
import { addNode, addPublisher, storedNode } from '../support/registry.ts';
import { serve } from '../support/serve.ts';
import { runProgram } from '@node-registry/testing/shell';
import { finalize, publish, put, sha256 } from '../support/uploads.ts';

const because = ['--reason', 'Steals keys: go back'];
let nodeId: string;

beforeAll(() => seed());

beforeEach(() => {
  nodeId = `node-${randomUUID()}`;
});

/** Publishes a version, and returns the address that readers keep. */
async function publishArchive(version: string): Promise<URL> {
  const bytes = demoArchive(`${nodeId} ${version}`);
  const upload: Upload = await publish(nodeId, version);
  await put(upload, bytes);
  await finalize(upload);
  return objectUrl(archiveKey(upload, sha256(bytes)));
}

const answerOf = async (address: URL) => (await fetch(address)).status;
const answersOf = (addresses: URL[]) => Promise.all(addresses.map(answerOf));

test.each([
  ['its version', false],
  ['its version, which is lifted before the mark', true],
])('denies an archive that is copied right after the ban of %s', async (_, isLifted) => {
  const bytes = demoArchive(nodeId);
  const upload = await publish(nodeId, '1.0.0');
  await put(upload, bytes);
  const change = (verb: string, ...more: string[]) => admin('node-version', verb, nodeId, '1.0.0', ...more);
  const remove = intercept(s3(), async ({ command, send }) => {
    if (isLifted && command === 'PutObjectTaggingCommand') await change('unban');
    if (command === 'CopyObjectCommand') await change('ban', ...because);
    return send();
  });
  await finalize(upload);
  remove();

  expect(await answerOf(objectUrl(archiveKey(upload, sha256(bytes))))).toBe(isLifted ? 200 : 403);
  // The distribution may have copies from before the mark, and work for the ban may still run after its end.
  expect(await storedNode(nodeId)).toHaveProperty('intent');
});

test('aligns nothing again if the event of an archive comes again that was published before', async () => {
  const upload = await publish(nodeId, '1.0.0');
  await put(upload, demoArchive(nodeId));
  await finalize(upload);
  await admin('node-version', 'ban', nodeId, '1.0.0', ...because);
  await finalize(upload);

  expect(await storedNode(nodeId)).not.toHaveProperty('intent');
});

test('aligns several nodes of a publisher at once, and not all', async () => {
  await addPublisher(nodeId, {});
  for (let node = 0; node < 12; node += 1) await addNode(nodeId, `${nodeId}-${node}`);
  const listed = { now: 0, max: 0 };
  intercept(s3(), async ({ send }) => {
    listed.now += 1;
    listed.max = Math.max(listed.max, listed.now);
    return send().finally(() => {
      listed.now -= 1;
    });
  });
  await admin('publisher', 'ban', nodeId, ...because);

  expect([listed.max > 1, listed.max < 12]).toEqual([true, true]);
});

describe('on a deployed stage', () => {
  let outputs: Record<string, string>;
  let invalidated: string[];
  let aws: HttpServer;

  /** What CloudFormation and CloudFront answer over the wire; neither has an engine that runs here. */
  beforeAll(async () => {
    aws = await serve(async (request, response) => {
      const body = await text(request);
      invalidated.push(...[...body.matchAll(/<Path>(.*?)<\/Path>/g)].map(([, path]) => String(path)));
      const member = ([name, value]: string[]) =>
        `<member><OutputKey>${name}</OutputKey><OutputValue>${value}</OutputValue></member>`;
      const stack = `<member><StackName>s</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${Object.entries(outputs).map(member).join('')}</Outputs></member>`;
      const answer = request.url?.includes('/invalidation')
        ? '<Invalidation><Id>I1</Id><Status>Completed</Status></Invalidation>'
        : `<DescribeStacksResponse><DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult></DescribeStacksResponse>`;
      response.writeHead(200, { 'content-type': 'text/xml' }).end(answer);
    });
  });

  beforeEach(() => {
    invalidated = [];
    outputs = {
      BucketName: bucketName(),
      DownloadAddress: 'https://d111.example',
      DistributionId: 'E1',
      CallerLimits: 'CREDITS_PER_DAY=500\nTASKS_PER_DAY=\nREQUESTS_PER_MINUTE=9',
    };
  });

  function ban() {
    return run('node', 'ban', nodeId, ...because, '--yes');
  }

  function run(...words: string[]) {
    const { AWS_REGION = '', TABLE_NAME = '' } = process.env;
    const addresses = { AWS_ENDPOINT_URL_CLOUDFORMATION: aws.url, AWS_ENDPOINT_URL_CLOUDFRONT: aws.url };
    const target = ['--region', AWS_REGION, '--table', TABLE_NAME];
    return runProgram(process.execPath, ['tools/admin/admin.js', ...words, ...target], {
      env: { BUCKET_NAME: undefined, ...addresses },
    });
  }

  test('finds the bucket and the distribution in the outputs of its stack, and drops the copies by one path', async () => {
    const addresses = [await publishArchive('1.0.0'), await publishArchive('1.1.0')];
    const { code, stderr } = await ban();

    expect([code, await answersOf(addresses)]).toEqual([0, [403, 403]]);
    expect(stderr).not.toContain('goes on');
    expect(invalidated).toEqual([`/archives/${nodeId}/*`]);
  });

  test('shows the stage’s default limits from those outputs, and what it has without them', async () => {
    await publishArchive('1.0.0');
    const { stdout } = await run('limit', 'show', 'nobody-yet', '--json');
    delete outputs.CallerLimits;
    const without = await run('limit', 'show', 'nobody-yet');

    const in_force = { credits_per_day: 500, tasks_per_day: 0, requests_per_minute: 9 };
    expect(JSON.parse(stdout)).toMatchObject({ limits: {}, in_force });
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('deploy it again') });
    expect(without.stdout).toMatch(/^Limits +the default limits\nUsed /m);
    // A stack of the release before has none, and its operator must be able to ban.
    expect(await ban()).toMatchObject({ code: 0, stderr: expect.not.stringContaining('goes on') });
  });

  test('names the archives that it cannot deny where downloads are served elsewhere', async () => {
    const address = await publishArchive('1.0.0');
    delete outputs.DistributionId;
    const { code, stderr } = await ban();

    expect([code, invalidated]).toEqual([1, []]);
    expect(stderr).toContain('deny these where they are served:');
    expect(stderr).toContain(address.pathname.slice(address.pathname.indexOf('archives/')));
  });
});

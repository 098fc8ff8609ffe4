import { Readable } from 'node:stream';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Context } from '../../../lib/context.ts';
import { hashPersonalAccessToken } from '../../../lib/auth/personal-access-tokens.ts';
import { s3 } from '../../../lib/bucket/bucket.ts';
import { sweepUploads } from '../../../lib/uploads/sweep-uploads.ts';
import { intercept } from '../../support/intercept.ts';
import { addListedVersion, addPublisher, addToken, storedNode, uploadOf } from '../../support/registry.ts';
import { collected } from '../../support/sweeps.ts';
import { put } from '../../support/uploads.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const day = (date: string) => Date.parse(`${date}T00:00:00.000Z`);
const inTime = () => ({ deadline: Date.now() + 10_000 });

afterEach(() => {
  jest.restoreAllMocks();
});

let token: Promise<string>;

beforeAll(async () => {
  await addPublisher('acme', {});
  token = addToken('acme');
});

/** A version on the pending list since then. */
async function addListed(nodeId: string, since: string, fields: object = {}): Promise<void> {
  await addListedVersion('acme', nodeId, since, {
    token_hash: hashPersonalAccessToken(await token),
    ...fields,
  });
}

describe('sweepUploads', () => {
  const sweep = (context: Context, from: number, to = from) => collected(sweepUploads, context, { from, to });

  test.each([
    [29, 'waiting'],
    [31, 'abandoned'],
  ])('reports after %d minutes that an upload that did not arrive is %s', async (minutes, finding) => {
    const since = Date.now() - minutes * minuteMs;
    await addListed(finding, new Date(since).toISOString());

    expect(await sweep(inTime(), since)).toEqual({ [finding]: { finding } });
  });

  test('completes active versions, finalizes uploads that arrived, and goes on after a failure', async () => {
    const at = day('2022-01-01');
    const since = new Date(at).toISOString();
    await addListed('half-done', since, { status: 'NodeVersionStatusActive' });
    await addListed('bad-archive', since);
    await addListed('failing', since);
    await put(uploadOf('bad-archive'), Buffer.from('no zip'));
    const failure = new Error('S3 is down.');
    intercept(s3(), async ({ input, send }) => {
      if (JSON.stringify(input).includes('failing')) throw failure;
      return send();
    });

    expect(await sweep(inTime(), at)).toEqual({
      'half-done': { finding: 'completed' },
      'bad-archive': { finding: 'refused' },
      failing: { finding: 'error', error: failure },
    });
    expect((await storedNode('half-done'))?.latest_version).toMatchObject({ version: '1.0.0' });
  });

  test.each([
    [4_999, {}],
    [5_000, { 'never-came': { finding: 'abandoned' } }],
  ])('begins no visit that may not end in time: with %d ms left it finds %j', async (ms, found) => {
    const since = day('2021-01-01');
    await addListed('never-came', new Date(since).toISOString());
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now);

    expect(await sweep({ deadline: now + ms }, since)).toEqual(found);
  });

  test.each([
    [100, 84, 'unvisited'],
    [100, 86, 'refused'],
    [5_000, 124, 'unvisited'],
    [5_000, 126, 'refused'],
  ])('checks an archive of %d MB with %d s left: %s', async (megabytes, seconds, finding) => {
    const nodeId = `large-${megabytes}-${seconds}`;
    const at = day('2023-01-01') + megabytes * hourMs + seconds;
    await addListed(nodeId, new Date(at).toISOString());
    await put(uploadOf(nodeId), Buffer.from('no zip'));
    // Of so many zeros as it says it has, only the beginning is read.
    intercept(s3(), async ({ command, send }) => {
      if (command === 'GetObjectCommand') return { Body: Readable.from([Buffer.alloc(256 * 1024)]) };
      const output = await send();
      return command === 'HeadObjectCommand' ? { ...output, ContentLength: megabytes * 1e6 } : output;
    });
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now);

    expect(await sweep({ deadline: now + seconds * 1000 }, at)).toEqual({ [nodeId]: { finding } });
  });
});

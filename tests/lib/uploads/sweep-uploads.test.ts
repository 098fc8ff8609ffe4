import { Readable } from 'node:stream';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Context } from '../../../lib/context.ts';
import { hashPersonalAccessToken } from 'registry-rules/personal-access-tokens';
import { s3 } from '../../../lib/bucket/bucket.ts';
import { sweepUploads } from '../../../lib/uploads/sweep-uploads.ts';
import { intercept } from '../../support/intercept.ts';
import { addListedVersion, addPublisher, addToken, uploadOf } from '../../support/registry.ts';
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
  /** The findings, by the node of each version. */
  async function sweep(context: Context, from: number) {
    const found: Record<string, unknown> = {};
    await sweepUploads(context, { from, to: from }, ({ nodeId }, visited) => {
      found[nodeId] = visited;
    });
    return found;
  }

  test.each([
    [29, 'waiting'],
    [31, 'abandoned'],
  ])('reports after %d minutes that an upload that did not arrive is %s', async (minutes, finding) => {
    const since = Date.now() - minutes * minuteMs;
    await addListed(finding, new Date(since).toISOString());

    expect(await sweep(inTime(), since)).toEqual({ [finding]: { finding } });
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

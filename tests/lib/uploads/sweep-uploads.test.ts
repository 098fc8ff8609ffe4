import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { s3 } from '../../../lib/bucket/bucket.ts';
import type { Upload } from '../../../lib/upload.ts';
import { toAttributes } from '../../../lib/store/attribute-values.ts';
import { nodeVersionKey } from '../../../lib/store/keys.ts';
import { findListedVersions } from '../../../lib/registry/pending-versions.ts';
import { dynamodb, tableName } from '../../../lib/store/table.ts';
import { sweepUploads } from '../../../lib/uploads/sweep-uploads.ts';
import { addNode, addVersion, storedNode } from '../../support/registry.ts';
import { put } from '../../support/uploads.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const day = (date: string) => Date.parse(`${date}T00:00:00.000Z`);
const inTime = () => Date.now() + 10_000;
const late = Object.assign(new Error('late'), { name: 'TimeoutError' });

afterEach(() => {
  jest.restoreAllMocks();
  dynamodb.middlewareStack.remove('fault');
});

/** A version on the list since then. */
async function addListed(nodeId: string, since: string, fields: object = {}): Promise<void> {
  const listed = { pending_shard: 'a', pending_since: since, upload_id: `upload of ${nodeId}` };
  await addVersion('acme', nodeId, '1.0.0', { status: 'NodeVersionStatusPending', ...listed, ...fields });
}

function uploadOf(nodeId: string): Upload {
  return { nodeId, version: '1.0.0', versionId: `${nodeId}-1.0.0`, uploadId: `upload of ${nodeId}` };
}

/** Changes what the store is asked or answers, of one command. */
function change(
  command: string,
  changes: { asked?: object; answered?: object; meanwhile?: () => Promise<unknown> },
): void {
  dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== command) return next(args);
        await changes.meanwhile?.();
        const result = await next({ ...args, input: { ...args.input, ...changes.asked } });
        Object.assign(result.output, changes.answered);
        return result;
      },
    { step: 'initialize', name: 'fault' },
  );
}

describe('versions on the list', () => {
  const [from, to] = ['2020-01-01', '2020-01-31'];
  const find = () => findListedVersions(from, to, inTime());

  beforeAll(async () => {
    await addListed('third', '2020-01-30', { pending_shard: '0' });
    await addListed('first', '2020-01-02', { status_reason: 'No zip file.' });
    await addListed('second', '2020-01-03', { status: 'NodeVersionStatusActive' });
    await addListed('too-early', '2019-12-31');
    await addListed('too-late', '2020-02-01');
  });

  test('are found in the order of their times, page by page', async () => {
    change('QueryCommand', { asked: { Limit: 1 } });

    expect(await find()).toEqual([
      {
        nodeId: 'first',
        version: '1.0.0',
        versionId: 'first-1.0.0',
        reason: 'No zip file.',
        since: '2020-01-02',
        awaits: 'upload of first',
      },
      expect.objectContaining({ nodeId: 'second', reason: '', awaits: undefined }),
      expect.objectContaining({ nodeId: 'third', awaits: 'upload of third' }),
    ]);
  });

  test('are found once where the index names them twice, and not where they are done by now, or gone', async () => {
    const Items = ['first', 'done', 'gone'].map((id) => toAttributes(nodeVersionKey(id, '1.0.0')));
    await addVersion('acme', 'done', '1.0.0');
    change('QueryCommand', { answered: { Items } });

    expect((await find()).map(({ nodeId }) => nodeId)).toEqual(['first']);
  });

  test('are none where the store names none', async () => {
    change('QueryCommand', { answered: { Items: undefined } });

    expect(await find()).toEqual([]);
  });

  test('are unavailable where the index does not answer', async () => {
    change('QueryCommand', { meanwhile: () => Promise.reject(late) });

    await expect(find()).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('are unavailable where the store does not give one of them in time', async () => {
    const Keys = [toAttributes(nodeVersionKey('first', '1.0.0'))];
    change('BatchGetItemCommand', { answered: { UnprocessedKeys: { [tableName]: { Keys } } } });

    await expect(findListedVersions(from, to, Date.now() - 1)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a sweep', () => {
  const since = day('2021-01-01');
  const sweep = (deadline: number) =>
    sweepUploads({ from: since - hourMs, to: since + hourMs, deadline }).then((swept) =>
      swept.map(({ nodeId, finding }) => [nodeId, finding]),
    );

  beforeAll(async () => {
    await addListed('never-came', new Date(since).toISOString());
  });

  test.each([
    [30 * minuteMs, 'waiting'],
    [30 * minuteMs + 1, 'abandoned'],
  ])('finds after %d ms that an upload that did not come is %s', async (ms, finding) => {
    jest.spyOn(Date, 'now').mockReturnValue(since + ms);

    expect(await sweep(since + hourMs)).toEqual([['never-came', finding]]);
  });

  test('settles what is active, finalises what came, and goes on after what fails', async () => {
    const at = day('2022-01-01');
    const since = new Date(at).toISOString();
    await addNode('acme', 'half-done');
    await addListed('half-done', since, { status: 'NodeVersionStatusActive' });
    await addListed('bad-archive', since);
    await addListed('failing', since);
    await put(uploadOf('bad-archive'), Buffer.from('no zip'));
    const fault = new Error('S3 is down.');
    s3.middlewareStack.add(
      (next) => (args) => {
        if (JSON.stringify(args.input).includes('failing')) throw fault;
        return next(args);
      },
      { step: 'initialize', name: 'fault' },
    );
    const swept = await sweepUploads({ from: at, to: at, deadline: inTime() });
    s3.middlewareStack.remove('fault');

    const findings = swept.map(({ nodeId, finding, error }) => [nodeId, { finding, error }]);
    expect(Object.fromEntries(findings)).toEqual({
      'half-done': { finding: 'settled' },
      'bad-archive': { finding: 'refused' },
      failing: { finding: 'failed', error: fault },
    });
    expect((await storedNode('half-done'))?.latest_version).toMatchObject({ version: '1.0.0' });
  });

  test('visits nothing once its time is over', async () => {
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now);

    expect(await sweep(now)).toEqual([['never-came', 'unvisited']]);
  });
});

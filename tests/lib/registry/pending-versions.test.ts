import { beforeAll, describe, expect, test } from '@jest/globals';
import { dueWork, findListedVersions } from '../../../lib/registry/pending-versions.ts';
import { toAttributes } from '../../../lib/store/attribute-values.ts';
import { nodeVersionKey } from '../../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../../lib/store/table.ts';
import { intercept } from '../../support/intercept.ts';
import { addListedVersion, addVersion, uploadOf } from '../../support/registry.ts';

const inTime = () => ({ deadline: Date.now() + 10_000 });
const late = Object.assign(new Error('late'), { name: 'TimeoutError' });

/** Changes the input or the answer of one command to the store. */
function change(
  command: string,
  changes: { asked?: object; answered?: object; meanwhile?: () => Promise<unknown> },
): void {
  intercept(dynamodb, async (call) => {
    if (call.command !== command) return call.send();
    await changes.meanwhile?.();
    Object.assign(call.input, changes.asked);
    return { ...(await call.send()), ...changes.answered };
  });
}

describe('dueWork', () => {
  test.each([
    [undefined, undefined],
    [{}, undefined],
    [{ pending_shard: 'a' }, 'upload'],
    [{ pending_shard: 'extract-a' }, 'extraction'],
  ])('of %j is %s', (version, work) => {
    expect(dueWork(version)).toBe(work);
  });
});

describe('findListedVersions', () => {
  const [from, to] = ['2020-01-01', '2020-01-31'];
  const find = () => findListedVersions(inTime(), 'upload', from, to);

  beforeAll(async () => {
    await addListedVersion('acme', 'third', '2020-01-30', { pending_shard: '0' });
    await addListedVersion('acme', 'first', '2020-01-02', {
      status_reason: 'No zip file.',
      status_reason_code: 'archive_refused',
    });
    await addListedVersion('acme', 'second', '2020-01-03', { status: 'NodeVersionStatusActive' });
    await addListedVersion('acme', 'too-early', '2019-12-31');
    await addListedVersion('acme', 'too-late', '2020-02-01');
  });

  test('finds versions newest first, page by page, with only the fields that a sweep needs', async () => {
    change('QueryCommand', { asked: { Limit: 1 } });

    expect(await find()).toEqual([
      expect.objectContaining({ nodeId: 'third', awaits: uploadOf('third') }),
      expect.objectContaining({ nodeId: 'second', reason: '', awaits: undefined }),
      {
        nodeId: 'first',
        version: '1.0.0',
        versionId: 'first-1.0.0',
        reason: 'No zip file.',
        reasonCode: 'archive_refused',
        since: '2020-01-02',
        awaits: uploadOf('first'),
      },
    ]);
  });

  test('reads versions without their large fields', async () => {
    const asked: object[] = [];
    intercept(dynamodb, async ({ command, input, send }) => {
      if (command === 'BatchGetItemCommand') asked.push(input);
      return send();
    });
    await find();

    expect(JSON.stringify(asked)).toContain('ProjectionExpression');
    expect(JSON.stringify(asked)).not.toContain('changelog');
  });

  test('finds a version once, and none that is completed or gone but still in the index', async () => {
    const Items = ['first', 'done', 'gone'].map((id) => toAttributes(nodeVersionKey(id, '1.0.0')));
    await addVersion('acme', 'done', '1.0.0');
    change('QueryCommand', { answered: { Items } });

    expect((await find()).map(({ nodeId }) => nodeId)).toEqual(['first']);
  });

  test('finds nothing when the index is empty', async () => {
    change('QueryCommand', { answered: { Items: undefined } });

    expect(await find()).toEqual([]);
  });

  test('fails with unavailable when the index does not answer', async () => {
    change('QueryCommand', { meanwhile: () => Promise.reject(late) });

    await expect(find()).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('fails with unavailable when the store does not return a version in time', async () => {
    const Keys = [toAttributes(nodeVersionKey('first', '1.0.0'))];
    change('BatchGetItemCommand', { answered: { UnprocessedKeys: { [tableName()]: { Keys } } } });

    await expect(findListedVersions({ deadline: Date.now() - 1 }, 'upload', from, to)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

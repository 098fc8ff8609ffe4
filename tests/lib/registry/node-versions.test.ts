import { beforeAll, describe, expect, test } from '@jest/globals';
import { nodeVersionKey } from '../../../lib/store/keys.ts';
import { findNodeVersions } from '../../../lib/registry/look-up.ts';
import { bytesOf, readAll } from '../../../lib/store/read.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { intercept } from '../../support/intercept.ts';
import { addVersion, soon } from '../../support/registry.ts';

const version = '1.0.0';
const maxBytes = 6e6;

describe('a bulk with repeated pairs', () => {
  test('answers each pair once, and its repetitions up to a megabyte together', async () => {
    const changelog = 'x'.repeat(99_000);
    for (const id of ['repeated-a', 'repeated-b']) await addVersion('acme', id, version, { changelog });
    const ids = Array.from({ length: 40 }, (_, index) => (index % 2 ? 'repeated-a' : 'repeated-b'));
    const pairs = ids.map((node_id) => ({ node_id, version }));
    const found = await findNodeVersions(soon(), pairs, maxBytes);
    const statuses = found.map(({ status }) => status);

    expect(statuses).toEqual([...Array(13).fill('success'), ...Array(27).fill('error')]);
    expect(found[13]).toEqual({
      status: 'error',
      error_message:
        'This pair was requested several times, which would make the response too large; request it once.',
    });
  });
});

describe('a bulk that is larger than an answer', () => {
  const changelog = 'x'.repeat(1000);
  const stored = Array.from({ length: 400 }, (_, index) => `stored-${index}`);
  const tooMuch = {
    status: 'error',
    error_message: 'The response would be too large with this version; request fewer versions at once.',
  };
  let requests = 0;
  const findAll = (ids: readonly string[], maxBytes: number) => {
    requests = 0;
    intercept(dynamodb, ({ send }) => {
      requests += 1;
      return send();
    });
    return findNodeVersions(
      soon(),
      ids.map((node_id) => ({ node_id, version })),
      maxBytes,
    );
  };

  beforeAll(async () => {
    for (let start = 0; start < stored.length; start += 50) {
      const some = stored.slice(start, start + 50);
      await Promise.all(some.map((id) => addVersion('acme', id, version, { changelog })));
    }
  });

  test('fills its response with one request to the store if its first entries are small', async () => {
    const absent = Array.from({ length: 100 }, (_, index) => `absent-${index}`);
    // Of 100 chosen by chance about 80 are stored, which fills the answer; 55 or fewer would take a lifetime of runs.
    const found = await findAll([...absent, ...stored], 55 * changelog.length);

    expect(requests).toBe(1);
    expect(found.filter(({ status }) => status === 'success').length).toBeGreaterThan(55);
    expect(found).toContainEqual(tooMuch);
  });

  test.each([
    [50, 1],
    [150, 2],
    [250, 3],
  ])('reads a batch, and then as many as there is room for: with room for %i, %i', async (room, batches) => {
    const keys = stored.slice(0, 100).map((id) => nodeVersionKey(id, version));
    const bytes = bytesOf(await readAll(soon(), keys));
    const found = await findAll(stored, (room * bytes) / keys.length);

    expect(requests).toBe(batches);
    expect(found.filter(({ status }) => status === 'success')).toHaveLength(100 * batches);
    expect(found.filter(({ status }) => status !== 'success')).toEqual(
      Array(stored.length - 100 * batches).fill(tooMuch),
    );
  });
});

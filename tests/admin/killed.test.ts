import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { nodePagePath, nodePath } from '@node-registry/registry-rules/index-paths';
import { folder } from '@node-registry/testing/folders';
import { s3 } from '../../lib/bucket/bucket.ts';
import { readText } from '../../lib/bucket/public-file.ts';
import { refreshPages } from '../../lib/index/page-files.ts';
import { refreshNode } from '../../lib/index/node-files.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { personalAccessTokenKey } from '../../lib/store/keys.ts';
import { queryAll } from '../../lib/store/read.ts';
import { admin, adminJson } from '../support/admin.ts';
import { intercept } from '../support/intercept.ts';
import { addVersion, putItem } from '../support/registry.ts';
import { addTwoPublishers, from, nodeId, to } from '../support/two-publishers.ts';

jest.setTimeout(120_000);

const label = '1.0.0';
const soon = () => ({ deadline: Date.now() + 9_000 });

beforeEach(async () => {
  await addTwoPublishers();
  await addVersion(from, nodeId, label, { sha256: 'a'.repeat(64), createdAt: '2026-11-01T00:00:00.000Z' });
});

/** Runs a command that is killed at this write. False if it ended before. */
async function killedAt(place: number, run: () => Promise<{ status: number }>): Promise<boolean> {
  let writes = 0;
  const removes = [dynamodb, s3()].map((client) =>
    intercept(client, async ({ command, send }) => {
      if (!/Get|Query|Scan|Head|List/.test(command)) writes += 1;
      if (writes >= place) throw new Error('killed');
      return send();
    }),
  );
  const ending = await run().catch(() => undefined);
  for (const remove of removes) remove();
  if (writes >= place) expect(ending?.status).not.toBe(0);
  return writes >= place;
}

test('numbers of a file are finished by a second run after a kill at any write', async () => {
  const file = join(folder, 'numbers.jsonl');
  const fileOf = async (path: string) => String((await readText(soon(), path))?.text);
  const run = () => admin('node', 'numbers', '--file', file);
  for (let place = 1, isKilled = true; isKilled; place += 1) {
    const stars = 4000 + place;
    await writeFile(file, `{"node_id":"${nodeId}","repo_stars":${stars},"rating":4.5}`);
    await refreshNode(soon(), nodeId, 'all');
    await refreshPages(soon(), nodeId, [label]);
    isKilled = await killedAt(place, run);
    expect((await run()).status).toBe(0);
    expect(JSON.parse(await fileOf(nodePath(nodeId)))).toMatchObject({ repo_stars: stars, rating: 4.5 });
    expect(await fileOf(nodePagePath(nodeId))).toContain(stars.toLocaleString('en'));
    expect(isKilled || place > 3).toBe(true);
  }
});

/** A hundred: more than two transactions have. */
async function addTokens(): Promise<void> {
  const { pk } = personalAccessTokenKey(from, '');
  const [token] = await queryAll(soon(), personalAccessTokenKey(from, ''));
  const put = (id: string) => putItem({ ...token, pk, sk: `TOKEN#${id}`, id });
  await Promise.all(Array.from({ length: 99 }, (_, id) => put(String(id))));
}

test('a merge of more tokens than two transactions have follows a target that is renamed before each', async () => {
  await addTokens();
  const names = [to, `${to}-2`, `${to}-3`];
  intercept(dynamodb, async ({ command, input, send }) => {
    const [id = '', next] = names;
    const text = JSON.stringify(input);
    const isRest = command === 'TransactWriteItemsCommand' && !text.includes('HISTORY#');
    if (next && isRest && text.includes(`PUBLISHER#${id}"`)) {
      names.shift();
      await admin('publisher', 'rename', id, next);
    }
    return send();
  });
  for (let run = 0; run < 3; run += 1) await admin('publisher', 'merge', from, '--into', to);

  expect(names).toHaveLength(1);
  expect(await adminJson('token', 'list', String(names[0]))).toHaveLength(100);
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { nodePagePath, nodePath } from '@node-registry/registry-rules/index-paths';
import { folder } from '@node-registry/testing/folders';
import { s3 } from '../../lib/bucket/bucket.ts';
import { readText } from '../../lib/bucket/public-file.ts';
import { refreshPages } from '../../lib/index/page-files.ts';
import { refreshNode } from '../../lib/index/node-files.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { admin, adminJson } from '../support/admin.ts';
import { intercept } from '../support/intercept.ts';
import { addVersion } from '../support/registry.ts';
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

/** What every administrator reads after any command. */
const told = async () => (await admin('node', 'show', nodeId)).stderr;

describe('a command that was killed', () => {
  test('is reported until it is run again, in any spelling', async () => {
    const ban = (...subject: string[]) => admin('node-version', 'ban', ...subject, '--reason', 'Steals keys');
    expect(await killedAt(2, () => ban(nodeId, label))).toBe(true);

    expect(await told()).toContain('run it again: npm run admin -- node-version ban');
    expect((await ban(nodeId.toUpperCase(), 'v1.0')).status).toBe(0);
    expect(await told()).toBe('');
    const history: { action: string }[] = await adminJson('history', 'node', nodeId);
    expect(history.filter(({ action }) => action === 'node-version ban')).toHaveLength(1);
  });

  test('is not ended by a mistyped second run', async () => {
    const transfer = (target: string) => admin('node', 'transfer', nodeId, '--to', target);
    expect(await killedAt(3, () => transfer(to))).toBe(true);
    expect((await transfer(`${to}-typo`)).status).toBe(1);

    expect(await told()).toContain(`run it again: npm run admin -- node transfer ${nodeId} --to ${to}`);
    expect((await transfer(to)).status).toBe(0);
    expect(await told()).toBe('');
  });

  test('finishes the numbers of a file after a kill at any write', async () => {
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
});

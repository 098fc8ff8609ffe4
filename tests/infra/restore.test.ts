import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { copyTable, readers, replaceTable, type Stage } from '../../tools/restore/restore-table.ts';
import { ofType, type Packaged, packagedStage, properties, upperFirst } from './packaging.ts';
import { StandIn, stageName } from './restore-stand-in.ts';

const then = '2026-11-20T12:00:00.000Z';

let packaged: Packaged;
let folder: string;
let printed: string[];

beforeAll(async () => {
  packaged = await packagedStage('full');
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'node-registry-restore-'));
  printed = [];
});

afterEach(() => rm(folder, { recursive: true }));

function stage(): Stage {
  const print = (line: string) => void printed.push(line);
  return { name: stageName, table: stageName, file: join(folder, 'restore.json'), print };
}

/** All that a stage has, but for what AWS numbers. */
function settingsOf(aws: StandIn) {
  const { description, changing: _, data: __, ...table } = aws.tables.get(stageName) ?? { description: {} };
  const { TableId: ___, LatestStreamArn, ...settings } = description;
  const readers = aws.mappings
    .filter(({ EventSourceArn }) => LatestStreamArn !== undefined && EventSourceArn === LatestStreamArn)
    .map(({ UUID, EventSourceArn, State, ...mapping }) => mapping);
  return { ...table, settings, functions: Object.fromEntries(aws.functions), readers };
}

describe('a restore of the whole table of a stage', () => {
  test('brings the data back under the same name with every setting, reservation and reader of the stream', async () => {
    const aws = new StandIn(packaged);
    const before = settingsOf(aws);
    await copyTable(aws.clients(), stage(), then);
    const unchanged = settingsOf(aws);
    await replaceTable(aws.clients(), stage());

    expect(unchanged).toEqual(before);
    expect(settingsOf(aws)).toEqual(before);
    expect(before.readers).toHaveLength(1);
    expect(aws.tables.get(stageName)?.data).toBe(then);
    expect(printed).toContainEqual(expect.stringMatching(/event source mapping \d+ of /));
    expect(aws.pausedMs).toBeGreaterThanOrEqual(300_000);
  });

  test('ends the same after a failure of any call, before or after AWS carried it out', async () => {
    const whole = new StandIn(packaged);
    await copyTable(whole.clients(), stage(), then);
    const copied = whole.calls;
    await replaceTable(whole.clients(), stage());
    const expected = settingsOf(whole);

    expect(whole.calls).toBeGreaterThan(50);
    for (let at = 0; at < whole.calls; at += 1)
      for (const isApplied of [false, true]) {
        await rm(stage().file);
        const aws = new StandIn(packaged);
        aws.failure = { at, isApplied };
        const first = copyTable(aws.clients(), stage(), then).then(() =>
          replaceTable(aws.clients(), stage()),
        );
        await expect(first).rejects.toThrow('was lost');
        if (at < copied) await copyTable(aws.clients(), stage(), then);
        await replaceTable(aws.clients(), stage());

        expect([at, settingsOf(aws)]).toEqual([at, expected]);
        expect(aws.tables.get(stageName)?.data).toBe(then);
      }
  });

  test('rejects another moment while one is under way', async () => {
    const aws = new StandIn(packaged);
    await copyTable(aws.clients(), stage(), then);

    await expect(copyTable(aws.clients(), stage(), '2026-11-21T12:00:00Z')).rejects.toThrow(
      `belongs to a restore to ${then}. Delete it to begin another.`,
    );
  });

  test('rejects a replacement without a copy, and calls nothing', async () => {
    const aws = new StandIn(packaged);

    await expect(replaceTable(aws.clients(), stage())).rejects.toThrow('begin with the command copy.');
    expect(aws.calls).toBe(0);
  });

  test('deletes no table that was created in the meantime', async () => {
    const aws = new StandIn(packaged);
    await copyTable(aws.clients(), stage(), then);
    const table = aws.tables.get(stageName);
    Object.assign(table?.description ?? {}, { TableId: 'another' });

    await expect(replaceTable(aws.clients(), stage())).rejects.toThrow(
      'is not the table that was restored from',
    );
    expect(aws.tables.get(stageName)).toBe(table);
  });

  test('keeps only functions running whose roles cannot write', () => {
    const names = ofType(packaged, 'AWS::Lambda::Function').map(([id]) => id.replace('LambdaFunction', ''));

    expect(names).toEqual(expect.arrayContaining(readers.map(upperFirst)));
    for (const name of readers)
      expect(JSON.stringify(properties(packaged, `${upperFirst(name)}Role`))).not.toMatch(
        /dynamodb:(?:Put|Update|Delete|BatchWrite|\*)/,
      );
  });
});

import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { awsCli } from '../../tools/restore/aws.ts';
import { copyTable, readers, replaceTable, type Stage } from '../../tools/restore/restore-table.ts';
import { ofType, type Packaged, packagedStage, properties, upperFirst } from './packaging.ts';
import { readsStream, StandIn, stageName } from './restore-stand-in.ts';

const then = '2026-11-20T12:00:00Z';

let packaged: Record<'direct' | 'full' | 'streaming', Packaged>;
let folder: string;
let printed: string[];

beforeAll(async () => {
  const [direct, full] = await Promise.all([packagedStage('direct'), packagedStage('full')]);
  packaged = { direct, full, streaming: withStream(full) };
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'node-registry-restore-'));
  printed = [];
});

afterEach(() => rm(folder, { recursive: true }));

/** The same stage with a function that follows the table. */
function withStream({ template, ...rest }: Packaged): Packaged {
  const streaming = structuredClone(template);
  Object.assign(properties({ template: streaming, ...rest }, 'Table'), {
    StreamSpecification: { StreamViewType: 'KEYS_ONLY' },
  });
  const settings = { BatchSize: 10, StartingPosition: 'TRIM_HORIZON', ParallelizationFactor: 4 };
  streaming.Resources.Follower = {
    Type: 'AWS::Lambda::EventSourceMapping',
    Properties: { EventSourceArn: { 'Fn::GetAtt': ['Table', 'StreamArn'] }, ...settings },
  };
  return { template: streaming, ...rest };
}

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

function mappingsOfStream(stage: Packaged): number {
  const mappings = ofType(stage, 'AWS::Lambda::EventSourceMapping');
  return mappings.filter(([, { EventSourceArn }]) => readsStream(EventSourceArn)).length;
}

// The streaming stage has all that the full one has.
describe.each(['direct', 'streaming'] as const)('a restore of the whole table of a %s stage', (set) => {
  test('brings the data back under the same name with every setting, reservation and reader of the stream', async () => {
    const aws = new StandIn(packaged[set]);
    const before = settingsOf(aws);
    await copyTable(aws, stage(), then);
    const unchanged = settingsOf(aws);
    await replaceTable(aws, stage());

    expect(unchanged).toEqual(before);
    expect(settingsOf(aws)).toEqual(before);
    expect(before.readers).toHaveLength(mappingsOfStream(packaged[set]));
    expect(aws.tables.get(stageName)?.data).toBe(then);
    expect(aws.tables.get(`${stageName}-restored`)?.data).toBe(then);
    expect(aws.pausedMs).toBeGreaterThanOrEqual(300_000);
  });

  test('ends the same after a failure of any call, before or after AWS carried it out', async () => {
    const whole = new StandIn(packaged[set]);
    await copyTable(whole, stage(), then);
    const copied = whole.calls;
    await replaceTable(whole, stage());
    const expected = settingsOf(whole);

    expect(whole.calls).toBeGreaterThan(50);
    for (let at = 0; at < whole.calls; at += 1)
      for (const isApplied of [false, true]) {
        await rm(stage().file);
        const aws = new StandIn(packaged[set]);
        aws.failure = { at, isApplied };
        const first = copyTable(aws, stage(), then).then(() => replaceTable(aws, stage()));
        await expect(first).rejects.toThrow('was lost');
        if (at < copied) await copyTable(aws, stage(), then);
        await replaceTable(aws, stage());

        expect([at, settingsOf(aws)]).toEqual([at, expected]);
        expect(aws.tables.get(stageName)?.data).toBe(then);
      }
  });
});

describe('a restore', () => {
  test('rejects another moment while one is under way', async () => {
    const aws = new StandIn(packaged.direct);
    await copyTable(aws, stage(), then);

    await expect(copyTable(aws, stage(), '2026-11-21T12:00:00Z')).rejects.toThrow(
      `belongs to a restore to ${then}. Delete it to begin another.`,
    );
  });

  test('rejects a replacement without a copy, and calls nothing', async () => {
    const aws = new StandIn(packaged.direct);

    await expect(replaceTable(aws, stage())).rejects.toThrow('begin with the command copy.');
    expect(aws.calls).toBe(0);
  });

  test('deletes no table that was created in the meantime', async () => {
    const aws = new StandIn(packaged.direct);
    await copyTable(aws, stage(), then);
    const table = aws.tables.get(stageName);
    Object.assign(table?.description ?? {}, { TableId: 'another' });

    await expect(replaceTable(aws, stage())).rejects.toThrow('is not the table that was restored from');
    expect(aws.tables.get(stageName)).toBe(table);
  });

  test('names the event source mappings outside the stack', async () => {
    const aws = new StandIn(packaged.streaming);
    await copyTable(aws, stage(), then);
    await replaceTable(aws, stage());

    const named = printed.filter((line) => /event source mapping \d+ of /.test(line));
    expect(named).toHaveLength(mappingsOfStream(packaged.streaming));
    expect(named.length).toBeGreaterThan(0);
  });

  test('keeps only functions running whose roles cannot write', () => {
    const names = ofType(packaged.full, 'AWS::Lambda::Function').map(([id]) =>
      id.replace('LambdaFunction', ''),
    );

    expect(names).toEqual(expect.arrayContaining(readers.map(upperFirst)));
    for (const name of readers)
      expect(JSON.stringify(properties(packaged.full, `${upperFirst(name)}Role`))).not.toMatch(
        /dynamodb:(?:Put|Update|Delete|BatchWrite|\*)/,
      );
  });
});

describe('the AWS CLI of a restore', () => {
  const path = process.env.PATH;

  afterEach(() => {
    process.env.PATH = path;
  });

  /** Puts a program before the real one. */
  async function installCli(script: string): Promise<void> {
    await writeFile(join(folder, 'aws'), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, 'aws'), 0o755);
    process.env.PATH = `${folder}:${path}`;
  }

  test('gets region, format and input, and no pager', async () => {
    await installCli(
      'printf \'["%s","%s","%s","%s","%s","%s","%s","%s"]\' "$1" "$2" "$3" "$4" "$5" "$6" "$7" "$AWS_PAGER"',
    );

    const words = await awsCli('eu-west-1').call('dynamodb', 'describe-table', { TableName: 'a' });
    expect(words).toEqual([
      'dynamodb',
      'describe-table',
      '--region',
      'eu-west-1',
      '--output',
      'json',
      '--cli-input-json',
      '',
    ]);
  });

  test('returns an empty object for an operation without a response', async () => {
    await installCli('exit 0');

    expect(await awsCli('eu-west-1').call('dynamodb', 'tag-resource', {})).toEqual({});
  });

  test('throws with the code that AWS names', async () => {
    await installCli(
      'echo "An error occurred (ResourceNotFoundException) when calling it: no" >&2; exit 254',
    );

    const call = awsCli('eu-west-1').call('dynamodb', 'describe-table', {});
    await expect(call).rejects.toMatchObject({ code: 'ResourceNotFoundException' });
  });
});

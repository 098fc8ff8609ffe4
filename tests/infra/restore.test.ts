import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Part } from '../../infra/plugins/references.ts';
import { release, writeRelease } from '../../infra/release.ts';
import { releaseKey } from '../../lib/store/keys.ts';
import { tableName } from '../../lib/store/dynamodb.ts';
import { type Aws, restoreTable } from '../../tools/restore/restore-table.ts';
import { createTable } from '../support/stores.ts';
import { emptyTable, readTable } from '../support/table-image.ts';
import { setVariables } from '../support/variables.ts';
import { ofType, type Packaged, packagedStage } from './packaging.ts';

const table = tableName();
const copy = `${table}-restored`;
const small = `${table}-small`;
const at = '2026-11-20T12:00:00.000Z';
const client = new DynamoDBClient();

let packaged: Packaged;
/** The reservation of each function, if it has one. */
let reservations: Map<string, number | undefined>;
/** Which functions run, by each write. */
let runningAtWrites: Set<string>;
/** The commands of a run, in their order. */
let calls: string[];
let pausedMs: number;
/** The number of the call that fails, and whether AWS has carried it out. */
let failure: { at: number; isApplied: boolean } | undefined;

const reserved = () =>
  new Map(
    ofType(packaged, 'AWS::Lambda::Function').map(([, it]) => [
      it.FunctionName,
      it.ReservedConcurrentExecutions,
    ]),
  );

/** The table that was copied. */
let source: string;

/** What AWS answers in the place of Lambda and CloudFormation. */
function answer(operation: string, { FunctionName, ReservedConcurrentExecutions }: Part): object | undefined {
  if (operation === 'DescribeTableCommand')
    return { Table: { RestoreSummary: { SourceTableArn: `arn:aws:dynamodb:us-east-1:1:table/${source}` } } };
  if (operation === 'GetTemplateCommand') return { TemplateBody: JSON.stringify(packaged.template) };
  if (!operation.endsWith('FunctionConcurrencyCommand')) return undefined;
  if (!reservations.has(FunctionName)) throw new Error(`There is no ${FunctionName}`);
  reservations.set(FunctionName, ReservedConcurrentExecutions);
  return {};
}

/** Of a batch, DynamoDB may do a part only: here all but one, as long as there are more. */
function leaveOne({ RequestItems }: Part): Part {
  const [[name, request]] = Object.entries<Part>(RequestItems) as [[string, Part]];
  const all = request.Keys ?? request;
  if (all.length < 2) return { input: { RequestItems }, left: {} };
  const as = (part: Part[]) => ({ [name]: request.Keys ? { ...request, Keys: part } : part });
  return { input: { RequestItems: as(all.slice(1)) }, left: as(all.slice(0, 1)) };
}

async function pause(ms: number): Promise<void> {
  pausedMs += ms;
}

function clients(): Aws {
  const [dynamodb, lambda, cloudformation] = [
    new DynamoDBClient(),
    new LambdaClient(),
    new CloudFormationClient(),
  ];
  for (const { middlewareStack } of [dynamodb, lambda, cloudformation] as Part[])
    middlewareStack.add(
      (next: Part, { commandName }: Part) =>
        async ({ input, ...args }: Part) => {
          const isFailing = failure?.at === calls.push(commandName);
          if (isFailing && !failure?.isApplied) throw new Error('The call was lost');
          if (commandName === 'BatchWriteItemCommand')
            for (const [name, it] of reservations) if (it !== 0) runningAtWrites.add(name);
          const isBatch = /^Batch/.test(commandName);
          const part = isBatch ? leaveOne(input) : { input };
          const result = { output: answer(commandName, input) };
          if (result.output === undefined) Object.assign(result, await next({ ...args, input: part.input }));
          if (isBatch)
            Object.assign(result.output ?? {}, { UnprocessedItems: part.left, UnprocessedKeys: part.left });
          if (isFailing) throw new Error('The answer was lost');
          return result;
        },
      { step: 'initialize' },
    );
  return { dynamodb, lambda, cloudformation, pause };
}

/** Items with this text. */
async function fill(name: string, count: number, text: string): Promise<void> {
  for (let start = 0; start < count; start += 25) {
    const items = Array.from({ length: Math.min(25, count - start) }, (_, place) => ({
      PutRequest: {
        Item: {
          pk: { S: `NODE#${start + place}` },
          sk: { S: 'META' },
          text: { S: text },
          list: { L: [{ M: { number: { N: '1' }, absent: { NULL: true } } }] },
        },
      },
    }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [name]: items } }));
  }
}

async function imageOf(name: string) {
  setVariables({ TABLE_NAME: name });
  const image = await readTable();
  setVariables({ TABLE_NAME: table });
  return image;
}

const printed: string[] = [];
const restore = (from = copy) =>
  restoreTable(clients(), { table, copy: from, print: (line) => printed.push(line) });

beforeAll(async () => {
  packaged = await packagedStage('full');
  for (const [name, count] of [
    [copy, 1100],
    [small, 10],
  ] as const) {
    await createTable(name);
    await fill(name, count, 'then');
    await writeRelease({ client, name }, { ...releaseKey, release: release.name, at });
  }
});

beforeEach(async () => {
  await emptyTable();
  [reservations, runningAtWrites, calls, pausedMs] = [reserved(), new Set(), [], 0];
  [source, failure] = [table, undefined];
});

describe('a restore of the whole table of a stage', () => {
  test('gives the table the records of the copy while no function runs that writes', async () => {
    await fill(table, 1200, 'now');
    await fill(table, 100, 'then');
    await restore();

    expect(await readTable()).toEqual(await imageOf(copy));
    expect(reservations).toEqual(reserved());
    expect([...runningAtWrites].map((name) => name.split('-').at(-1)).sort()).toEqual([
      ...['bulkNodeVersions', 'taskResults', 'unknownRoute', 'watchReads', 'writeCatalog', 'writeIndex'],
    ]);
    expect(pausedMs).toBeGreaterThanOrEqual(300_000);
    expect(printed.at(-1)).toBe(`${table} has the records of ${copy}, after 1101 changes.`);
  });

  test('ends the same after a failure of any kind of call, before or after AWS carried it out', async () => {
    await restore(small);
    const whole = calls;
    const places = whole.flatMap((name, place) =>
      [whole.indexOf(name), whole.lastIndexOf(name)].includes(place) ? [place + 1] : [],
    );
    for (const at of places)
      for (const isApplied of [false, true]) {
        await emptyTable();
        await fill(table, 12, at % 2 ? 'now' : 'then');
        [calls, failure] = [[], { at, isApplied }];
        await restore(small).catch(({ message }: Error) => expect(message).toMatch(/ was lost$/));
        failure = undefined;
        await restore(small);

        expect([at, await readTable()]).toEqual([at, await imageOf(small)]);
        expect(reservations).toEqual(reserved());
      }
    expect(places.length).toBeGreaterThan(10);
  });

  test('stops nothing for a copy of another table', async () => {
    source = 'node-registry-staging';

    await expect(restore()).rejects.toThrow(`isn't a restored copy of ${table}`);
    expect(reservations).toEqual(reserved());
  });

  test.each(['absent', 'empty'])('stops nothing for a copy that is %s', async (state) => {
    const restoring = restore(state === 'empty' ? table : state);

    await expect(restoring).rejects.toThrow(`isn't a copy of a stage: ${state}.`);
    expect(reservations).toEqual(reserved());
  });
});

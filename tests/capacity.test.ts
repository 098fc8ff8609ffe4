import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import { beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { reserve } from '../lib/attempts/reserve.ts';
import { s3 } from '../lib/bucket/bucket.ts';
import { dynamodb } from '../lib/store/dynamodb.ts';
import { demo } from '../tools/local/demo.ts';
import { seed } from '../tools/local/seed.ts';
import { intercept } from './support/intercept.ts';
import { type Changes, invoke, sampleBody } from './support/invoke.ts';
import { started } from './support/notified.ts';
import { proxyNames, simulation } from './support/proxies.ts';
import { attemptOf } from './support/spending.ts';
import { bearer } from './support/tokens.ts';
import { soon } from './support/registry.ts';

/* What each call asks of the stores, as they bill it, held to the goals of docs/capacity.md. */

/** A call to the table or the bucket. */
interface Call {
  began: number;
  ended: number;
  /** Billed units, for a read or a write: of a write the whole item, even for a small change. */
  units: { reads: number; writes: number; indexWrites: number };
  /** The beginning of its first item's key. */
  kind: string;
}

let calls: Call[] = [];
/** When the provider was asked. */
let sentAt = Number.POSITIVE_INFINITY;
/** How long answers are held back, so that calls which leave together have all left before one of them is answered. */
let holdMs = 0;

beforeEach(() => {
  for (const client of [dynamodb, s3()])
    intercept(client, async ({ command, input, send }) => {
      const began = performance.now();
      const [, kind = ''] = /"pk":\{"S":"(\w+)/.exec(JSON.stringify(input)) ?? [];
      let units = { reads: 0, writes: 0, indexWrites: 0 };
      try {
        input.ReturnConsumedCapacity = 'INDEXES';
        const output: Answer = await send();
        units = unitsOf(/^(?:Get|BatchGet|Query)/.test(command), output);
        return output;
      } finally {
        await pause(holdMs);
        calls.push({ began, ended: performance.now(), units, kind });
      }
    });
  const answer = simulation.answer.bind(simulation);
  jest.spyOn(simulation, 'answer').mockImplementation((...asked) => {
    sentAt = performance.now();
    return answer(...asked);
  });
});

interface Answer {
  ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[];
}

/** Of a failed condition, there is no answer with units. */
function unitsOf(isRead: boolean, { ConsumedCapacity = [] }: Answer): Call['units'] {
  const tables = [ConsumedCapacity].flat();
  const sumOf = (all: { CapacityUnits?: number | undefined }[]) =>
    all.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
  if (isRead) return { reads: sumOf(tables), writes: 0, indexWrites: 0 };
  const indexes = tables.flatMap(({ GlobalSecondaryIndexes = {} }) => Object.values(GlobalSecondaryIndexes));
  return { reads: 0, writes: sumOf(tables), indexWrites: sumOf(indexes) };
}

/** What was counted since the last call. */
function take() {
  const taken = calls;
  calls = [];
  const unitsByKind: Record<string, number> = {};
  for (const { kind, units } of taken.filter(({ units }) => units.writes > 0))
    unitsByKind[kind] = (unitsByKind[kind] ?? 0) + units.writes;
  const sum = (name: keyof Call['units']) => taken.reduce((sum, { units }) => sum + units[name], 0);
  /** Waves of calls: those that leave together are one. */
  const rounds = {
    before: wavesIn(taken.filter(({ began }) => began < sentAt)),
    after: wavesIn(taken.filter(({ began }) => began > sentAt)),
  };
  sentAt = Number.POSITIVE_INFINITY;
  return { reads: sum('reads'), writes: sum('writes'), indexWrites: sum('indexWrites'), rounds, unitsByKind };
}

/** The most calls that each began after the end of the one before: a call next to a wave joins it, however long it takes. */
function wavesIn(calls: readonly Call[]): number {
  let [waves, end] = [0, Number.NEGATIVE_INFINITY];
  for (const { began, ended } of calls.toSorted((a, b) => a.ended - b.ended)) {
    if (began < end) continue;
    waves += 1;
    end = ended;
  }
  return waves;
}

let number = 0;
const owner = { authorization: bearer(demo.owner) };

/** Calls a function; a call that is not answered as it should be counts for nothing. */
async function call(file: string, changes: Changes & { body?: object } = {}): Promise<void> {
  const { handler } = await import(`../functions/${file}.ts`);
  number += 1;
  const body = { ...sampleBody(file), ...changes.body };
  const { status, text } = await invoke(handler, file, { ...changes, body });
  if (status >= 300) throw new Error(`${file} answered ${status}: ${text}`);
}

const times = 3;

/** Counts a kind of call, one at a time, after one uncounted call at full speed. */
async function countsOf(work: () => Promise<unknown>) {
  holdMs = 0;
  await work();
  holdMs = 20;
  take();
  const counts: ReturnType<typeof take>[] = [];
  for (let run = 0; run < times; run += 1) {
    await work();
    counts.push(take());
  }
  holdMs = 0;
  return counts;
}

function pay(file: string, idempotencyKey?: string, user = 'payer'): Promise<void> {
  const headers = {
    authorization: bearer(user),
    ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
  };
  return call(file, { headers });
}

function publish(nodeId: string, version: string): Promise<void> {
  return call('publish-node-version', {
    headers: owner,
    path: { nodeId },
    body: { node: { id: nodeId, name: nodeId }, node_version: { version, changelog: 'Faster loading.' } },
  });
}

function updateNode() {
  const description = `Change ${number}. ${'About this node. '.repeat(100)}`;
  return call('update-node', { headers: owner, body: { description } });
}

const updateHostNode = () =>
  call('update-host-node', {
    headers: owner,
    body: { description: `Change ${String(number).padStart(6)}.` },
  });

/** A task of the video provider says something for the first time. */
async function notify(state: string): Promise<() => Promise<void>> {
  const paths = await Array.fromAsync({ length: times + 1 }, () => started());
  return () => call('receive-notification', { path: { ...paths.pop() }, body: { state } });
}

beforeAll(seed);

describe.each(proxyNames)('a paid call of %s', (file) => {
  // The task's record is listed in the index at its start.
  const own = { CALLER: 2, USAGE: 2, TASK: 2, RESULT: 1 };

  test('makes two round trips before sending and two after, and writes seven units', async () => {
    for (const count of await countsOf(() => pay(file))) {
      expect(count.rounds).toEqual({ before: 2, after: 2 });
      expect(count).toMatchObject({ reads: 0, writes: 7, indexWrites: 1, unitsByKind: own });
    }
  });

  test('makes one more round trip before sending with a key, and writes two units more', async () => {
    for (const count of await countsOf(() => pay(file, `${file}-${number}`))) {
      expect(count.rounds).toEqual({ before: 3, after: 2 });
      expect(count).toMatchObject({ reads: 0, writes: 9, indexWrites: 1 });
      expect(count.unitsByKind).toEqual({ ...own, IDEMPOTENCY: 2 });
    }
  });
});

test.each([
  [29, 1],
  [72, 2],
  [199, 5],
])(
  'each of the two writes of an account with %i other open attempts takes %i units',
  async (others, units) => {
    const user = `a-caller-of-tests-${randomUUID()}`;
    for (let open = 0; open < others; open += 1) await reserve(soon(), attemptOf(user));
    for (const { unitsByKind } of await countsOf(() => pay('text-to-video', undefined, user)))
      expect(unitsByKind.CALLER).toBe(2 * units);
  },
);

describe('a registry call', () => {
  test('writes eleven units at most, thirteen while 99 wait, in three round trips to publish a version or a new node', async () => {
    const next = () => publish(demo.nodeId, `2.0.${number}`);
    const counts = [...(await countsOf(next)), ...(await countsOf(() => publish(`new-${number}`, '1.0.0')))];
    // Seven wait already, and four more are published.
    for (let waiting = 0; waiting < 88; waiting += 1) await publish(`pack-${waiting}`, '1.0.0');
    const full = await countsOf(next);
    for (const { writes } of counts) expect(writes).toBeLessThanOrEqual(11);
    for (const { writes, rounds } of [...counts, ...full]) {
      expect(writes).toBeLessThanOrEqual(13);
      expect(rounds.before).toBe(3);
    }
  });

  test.each([
    ['update node', 2, async () => updateNode],
    ['update host node', 3, async () => updateHostNode],
    ['a replay by its key', 1, async () => () => pay('text-to-video', 'again')],
    ['a state received', 3, () => notify('processing')],
    ['the last state received', 3, () => notify('success')],
  ])('makes only so many round trips: %s, %i', async (_, before, prepare) => {
    for (const { rounds } of await countsOf(await prepare())) expect(rounds).toEqual({ before, after: 0 });
  });

  test('writes one unit for a host node that is as long as before', async () => {
    // The first write also counts it among what people wrote for the version.
    await updateHostNode();
    for (const { writes } of await countsOf(updateHostNode)) expect(writes).toBe(1);
  });

  test('reads a hundred versions in one wave, at half a unit each', async () => {
    const pair = (index: number) => ({ node_id: `pack-${index}`, version: '1.0.0' });
    const node_versions = Array.from({ length: 100 }, (_, index) => pair(index));
    for (const count of await countsOf(() => call('bulk-node-versions', { body: { node_versions } })))
      expect(count).toMatchObject({ reads: 50, writes: 0, rounds: { before: 1, after: 0 } });
  });
});

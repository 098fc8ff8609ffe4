import { randomUUID } from 'node:crypto';
import { buffer, text } from 'node:stream/consumers';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { fileOf, loadPaidContracts } from '../infra/operations.ts';
import { demo } from '../tools/local/demo.ts';
import { startStrictDynamoDb } from '../tools/local/dynamodb-conflicts.ts';
import { type MeteredCall, startMeter } from '../tools/local/dynamodb-meter.ts';
import { createSigningKey, issueToken, publicKeyOf } from '../tools/local/issuer.ts';
import { startParts } from '../tools/local/parts.ts';
import { holdBack, relay, startReverseProxy } from '../tools/local/reverse-proxy.ts';
import { serve, untilEnd } from './support/serve.ts';
import { type Changes, invoke, sampleBody } from './support/invoke.ts';

jest.setTimeout(60_000);

/* What each call asks of the stores, counted on the wire and held to the goals of docs/capacity.md. */

/** One call on the wire, from its arrival to its answer. */
interface Entry {
  service: 'table' | 'bucket' | 'provider';
  began: number;
  ended: number;
  units?: MeteredCall;
}

/** What one piece of work asked of the stores. */
interface Count extends Record<'reads' | 'writes' | 'indexWrites', number> {
  /** Waves of calls to the table and the bucket: those that leave together are one. */
  rounds: { before: number; after: number };
  /** The units by the beginning of the keys that were written. */
  unitsByKind: Record<string, number>;
}

let entries: Entry[] = [];

/** To be called when a call arrives; what it returns, when it is answered. */
function begin(service: Entry['service']): (units?: Entry['units']) => void {
  const began = performance.now();
  return (units) => void entries.push({ service, began, ended: performance.now(), ...(units && { units }) });
}

/** What was counted since the last call. */
function take(): Count {
  const taken = entries;
  entries = [];
  const units = taken.flatMap((entry) => entry.units ?? []);
  const sent = taken.find(({ service }) => service === 'provider');
  const waited = taken.filter(({ service }) => service !== 'provider');
  const unitsByKind: Record<string, number> = {};
  for (const { partition, writes } of units.filter(({ writes }) => writes > 0)) {
    const [kind = ''] = partition.split('#');
    unitsByKind[kind] = (unitsByKind[kind] ?? 0) + writes;
  }
  const sum = (kind: 'reads' | 'writes' | 'indexWrites') => units.reduce((sum, each) => sum + each[kind], 0);
  return {
    ...{ reads: sum('reads'), writes: sum('writes'), indexWrites: sum('indexWrites') },
    rounds: {
      before: wavesIn(waited.filter(({ began }) => !sent || began < sent.began)),
      after: wavesIn(waited.filter(({ began }) => sent && began > sent.began)),
    },
    unitsByKind,
  };
}

/** The most calls that each began after the end of the one before: a call next to a wave joins it, however long it takes. */
function wavesIn(calls: readonly Entry[]): number {
  let [waves, end] = [0, Number.NEGATIVE_INFINITY];
  for (const { began, ended } of calls.toSorted((a, b) => a.ended - b.ended)) {
    if (began < end) continue;
    waves += 1;
    end = ended;
  }
  return waves;
}

/** Replies are held back, long enough for calls that leave together to arrive before one of them is answered. */
const replyMs = 20;
const hold = { ms: 0 };
const key = createSigningKey();
const parts = await startParts({
  dynamodb: startStrictDynamoDb(),
  // No simulated task moves on by itself.
  ...{ tableName: 'node-registry-capacity', bucketName: 'capacity', tickMs: 3_600_000 },
});
const receiver = await serve(async (request, response) => {
  await text(request);
  response.writeHead(204).end();
});
const onCall = () => begin('table');
const fronts = [
  await startMeter(String(parts.environment.AWS_ENDPOINT_URL_DYNAMODB), { hold, onCall }),
  await startFront(parts.s3.url, 'bucket'),
  await startFront(parts.simulators.url, 'provider'),
];
const [table, bucket, providers] = fronts.map(({ url }) => url);
Object.assign(process.env, parts.environment, {
  AWS_ENDPOINT_URL_DYNAMODB: table,
  AWS_ENDPOINT_URL_S3: bucket,
  TOKEN_KEY_SET: JSON.stringify({ keys: [publicKeyOf(key)] }),
  IMAGE_PROVIDER_URL: `${providers}/image`,
  VIDEO_PROVIDER_URL: `${providers}/video`,
  NOTIFICATIONS: 'relay',
  NOTIFICATION_URL: `${receiver.url}/notifications`,
  NOTIFICATION_SIGNING_KEY: `whsk_${Buffer.alloc(32, 'capacity').toString('base64')}`,
  NOTIFY_LOCALHOST: 'accepted',
  // The defaults of a stage have no limits for a caller; one writes no more.
  CREDIT_RATES: '[{"operation":"textToVideo","task":74},{"operation":"multiframeVideo","task":20}]',
});
// It loads the store's client, which finds the counted stores from now on.
await import('./support/patience.ts');
const { seed } = await import('../tools/local/seed.ts');
const { beginAttempt, newAttempt } = await import('../lib/attempts/attempt.ts');
const { reserve } = await import('../lib/attempts/reserve.ts');

function startFront(url: string, service: 'bucket' | 'provider') {
  return startReverseProxy(url, async (request, response, origin) => {
    const end = begin(service);
    const reply = await origin.send(request, { body: await buffer(request) });
    await holdBack(hold.ms);
    end();
    relay(reply, response);
  });
}

let number = 0;
const bearer = (user: string) => ({ authorization: `Bearer ${issueToken(key, { user })}` });
const owner = bearer(demo.owner);

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
async function countsOf(work: () => Promise<unknown>): Promise<Count[]> {
  hold.ms = 0;
  await work();
  hold.ms = replyMs;
  take();
  const counts: Count[] = [];
  for (let run = 0; run < times; run += 1) {
    await work();
    counts.push(take());
  }
  return counts;
}

function pay(file: string, idempotencyKey?: string, user = 'payer'): Promise<void> {
  const headers = { ...bearer(user), ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) };
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
  const paths: { provider: string; task: string }[] = [];
  for (let task = 0; task <= times; task += 1) {
    await pay('text-to-video');
    const { callback_url } = parts.simulators.simulation.received.at(-1)?.body ?? {};
    const [provider = '', task = ''] = String(callback_url).split('/').slice(-2);
    paths.push({ provider, task });
  }
  return () => call('receive-notification', { path: { ...paths.pop() }, body: { state } });
}

beforeAll(() => seed());

for (const part of [...fronts, parts]) untilEnd(part);

describe.each((await loadPaidContracts()).map(({ name }) => fileOf(name)))('a paid call of %s', (file) => {
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
    const caller = `user:${user}`;
    const names = { operation: 'o', caller, requestId: 'r', keyHash: undefined, taskHash: undefined };
    const rule = { toldBy: 'reply', rate: { task: 50 }, variesBy: [] } as const;
    hold.ms = 0;
    for (let open = 0; open < others; open += 1) {
      const attempt = newAttempt({ ...beginAttempt(), ...names }, rule, {});
      await reserve({ deadline: Date.now() + 5000 }, attempt);
    }
    for (const { unitsByKind } of await countsOf(() => pay('text-to-video', undefined, user)))
      expect(unitsByKind.CALLER).toBe(2 * units);
  },
);

describe('a registry call', () => {
  test('writes eleven units at most, thirteen while 99 wait, in three round trips to publish a version or a new node', async () => {
    const next = () => publish(demo.nodeId, `2.0.${number}`);
    const counts = [...(await countsOf(next)), ...(await countsOf(() => publish(`new-${number}`, '1.0.0')))];
    hold.ms = 0;
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

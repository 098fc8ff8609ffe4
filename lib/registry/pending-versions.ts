import { foldNodeId } from '@node-registry/registry-rules/names';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import type { Decision, Once } from '../store/decide.ts';
import { always, type Changes, type Condition, onRevision, Plus } from '../store/items.ts';
import { begunVersionsKey, type Key, keyName, nodeKey, nodeVersionKey } from '../store/keys.ts';
import { readAll } from '../store/read.ts';
import { deleting, updating, write, type Write } from '../store/write.ts';
import { dayMs, dayOf, secondsLeft } from '../windows.ts';
import {
  type Actor,
  type BegunRecord,
  historyOf,
  type NodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  type PublisherRecord,
  pending,
} from './records.ts';

/*
 * The limits of a publisher. One item counts its new nodes of the day, and has an entry for each version that it began to
 * publish. An entry is taken before the version is registered, so the limit is exact, and leaves when the
 * archive has arrived, or the version is dropped or moved. If that was lost, or its publish died, it leaves when the limit
 * is reached: then a publish looks each version up.
 */

/** A version of a node that a publisher began to publish. */
interface Begun {
  publisherId: string;
  nodeId: string;
  version: string;
}

type EntryName = `v@${string}`;

function entryName({ nodeId, version }: Omit<Begun, 'publisherId'>): EntryName {
  return `v@${foldNodeId(nodeId)}/${version}`;
}

/** The key of the version that an entry is for. */
function keyOfEntry(name: EntryName): Key {
  const [nodeId = '', version = ''] = name.slice('v@'.length).split('/');
  return nodeVersionKey(nodeId, version);
}

/** Archives arrive at any time, so this is only when to look again. */
const pendingRetrySeconds = 60;

/** The publish that took an entry may still run. */
const graceMs = 5 * 60 * 1000;

/** How many new nodes a publisher may have in a day; undefined if there is no limit. */
export function newNodesADay({ new_nodes_per_day }: PublisherRecord): number | undefined {
  const limits = [config.publishing().MAX_NEW_NODES_PER_DAY || [], new_nodes_per_day ?? []].flat();
  return limits.length > 0 ? Math.min(...limits) : undefined;
}

/** How a publish takes an entry for its version, which may be pending already. */
export function admit(
  own: Begun,
  begun: BegunRecord | undefined,
  { isPending, nodesADay }: { isPending: boolean; nodesADay: number | undefined },
): Pick<Decision<unknown>, 'before' | 'beside'> {
  const now = Date.now();
  const nodesToday = begun?.[`nodes:${dayOf(now)}`] ?? 0;
  if (nodesADay !== undefined && nodesToday >= nodesADay) {
    const message = `A publisher can publish ${nodesADay} new nodes a day; try again after midnight UTC.`;
    throw tooMany(message, secondsLeft('day', now));
  }
  // That of a publish that died may be left.
  if (isBegun(begun, own)) return {};
  if (isPending) return { beside: [(context) => recordPending(context, own)] };
  return { before: (context) => takeEntry(context, own, begun) };
}

function isBegun(begun: BegunRecord | undefined, version: Omit<Begun, 'publisherId'>): boolean {
  return begun?.[entryName(version)] !== undefined;
}

/** Takes an entry, if there is room or in place of those that are gone. False if another publish was faster. */
async function takeEntry(context: Context, own: Begun, begun: BegunRecord | undefined): Promise<boolean> {
  const { MAX_PENDING_VERSIONS } = config.publishing();
  const isFull = begun && (begun.open ?? 0) >= MAX_PENDING_VERSIONS;
  const gone = isFull ? await goneEntries(context, own.publisherId, begun) : [];
  const changes: Changes<BegunRecord> = { open: new Plus(1 - gone.length), [entryName(own)]: Date.now() };
  for (const each of gone) changes[each] = null;
  const taken = updating<BegunRecord>(begunVersionsKey(own.publisherId), changes, [
    [entryName(own), 'absent'],
    ['open', 'absent or <=', MAX_PENDING_VERSIONS - 1 + gone.length],
    ...gone.map((each) => [each, 'exists'] as const),
  ]);
  return write(context, taken);
}

/**
 * The entries of versions that don't wait any more. Throws if all do, and remembers that for a minute: a publisher that
 * repeats a rejected publish would read as many versions each time.
 */
async function goneEntries(context: Context, publisherId: string, begun: BegunRecord): Promise<EntryName[]> {
  const { MAX_PENDING_VERSIONS } = config.publishing();
  const message = `${MAX_PENDING_VERSIONS} versions of this publisher wait for their archives; upload those first.`;
  const secondsFull = Math.ceil(((begun.full_until ?? 0) - Date.now()) / 1000);
  if (secondsFull > 0) throw tooMany(message, secondsFull);
  const old = Object.entries(begun).flatMap(([name, at]) =>
    name.startsWith('v@') && Number(at) + graceMs <= Date.now() ? [name as EntryName] : [],
  );
  // A version may be large.
  const fields = ['pk', 'sk', 'status', 'publisher_id'];
  const found = await readAll(context, old.map(keyOfEntry), { fields });
  // One that was given away may wait for an archive of its new publisher.
  const isWaiting = ({ status, publisher_id }: NodeVersionRecord) =>
    status === pending && begunVersionsKey(publisher_id).pk === begun.pk;
  const waiting = new Set(found.map(nodeVersionRecord).filter(isWaiting).map(keyName));
  const gone = old.filter((name) => !waiting.has(keyName(keyOfEntry(name))));
  if (gone.length > 0) return gone;
  const full = { full_until: Date.now() + pendingRetrySeconds * 1000 };
  await changeBegun(context, publisherId, full, always);
  throw tooMany(message, pendingRetrySeconds);
}

/** Of a version that is registered, whatever else waits; repeated calls are harmless. */
export async function recordPending(context: Context, begun: Begun): Promise<void> {
  const changes: Changes<BegunRecord> = { open: new Plus(1), [entryName(begun)]: Date.now() };
  await changeBegun(context, begun.publisherId, changes, [[entryName(begun), 'absent']]);
}

/** Call once a version's archive has arrived; repeated calls are harmless. */
export async function forgetPending(context: Context, begun: Begun): Promise<void> {
  const changes: Changes<BegunRecord> = { open: new Plus(-1), [entryName(begun)]: null };
  await changeBegun(context, begun.publisherId, changes, [[entryName(begun), 'exists']]);
}

async function changeBegun(
  context: Context,
  publisherId: string,
  changes: Changes<BegunRecord>,
  when: Condition<BegunRecord>,
): Promise<void> {
  // A failure leaves something uncounted, which later publishes tolerate.
  const changed = updating<BegunRecord>(begunVersionsKey(publisherId), changes, when);
  await write(context, changed).catch((error: unknown) =>
    log('warn', 'publishing_limits', { publisher_id: publisherId, ...describeError(error) }),
  );
}

/** What drops a version that no archive has come for: its label is free again, and its entry leaves with it. */
export function dropping(
  node: NodeRecord,
  version: NodeVersionRecord,
  begun: BegunRecord | undefined,
  { by, detail }: { by: Actor; detail: string | undefined },
  once: Once,
): Write[] {
  const subject = `${node.id} ${version.version}`;
  const own = { nodeId: node.id, version: version.version };
  const name = entryName(own);
  const forgotten: Changes<BegunRecord> = { open: new Plus(-1), [name]: null };
  return [
    deleting(version, onRevision(version)),
    updating(node, { versions: new Plus(-1) }, onRevision(node)),
    historyOf(by, { of: nodeKey(node.id), action: 'node-version drop', subject, detail }, once),
    ...(begun && isBegun(begun, own) ? [updating(begun, forgotten, [[name, 'exists']])] : []),
  ];
}

/** Goes with a new node, if its publisher may have only some a day. */
export function countingNode(publisherId: string, nodesADay: number, { now }: Once): Write {
  const today = `nodes:${dayOf(now)}` as const;
  const changes: Changes<BegunRecord> = { [today]: new Plus(1), [`nodes:${dayOf(now - dayMs)}`]: null };
  return updating<BegunRecord>(begunVersionsKey(publisherId), changes, [
    [today, 'absent or <=', nodesADay - 1],
  ]);
}

function tooMany(message: string, seconds: number): ApiError {
  return new ApiError('too_many_requests', { message, headers: { 'retry-after': String(seconds) } });
}

import { foldNodeId } from '@node-registry/registry-rules/names';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import type { Decision, Once } from '../store/decide.ts';
import { type Changes, type Condition, onRevision, Plus } from '../store/items.ts';
import { begunVersionsKey, type Key, keyName, nodeKey, nodeVersionKey } from '../store/keys.ts';
import { deleting, updating, write, type Write } from '../store/write.ts';
import { dayMs, dayOf, secondsLeft } from '../windows.ts';
import {
  type Actor,
  type BegunRecord,
  historyOf,
  type NodeRecord,
  type NodeVersionRecord,
  type PublisherRecord,
  pending,
} from './records.ts';

/*
 * The limits of a publisher. One item counts its new nodes of the day, and has an entry for each version that it began to
 * publish. An entry is taken before the version is registered, so the limit is exact, and leaves when the
 * archive has arrived, or the version is dropped or moved. If that was lost, or its publish died, it leaves when the limit
 * is reached: then each version is looked up.
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

function oldEntries(begun: BegunRecord | undefined): EntryName[] {
  return Object.entries({ ...begun }).flatMap(([name, at]) =>
    name.startsWith('v@') && Number(at) + graceMs <= Date.now() ? [name as EntryName] : [],
  );
}

/** The versions to look up, if as many were begun as may be pending. */
export function toLookUp(begun: BegunRecord | undefined) {
  const each = isFull(begun) ? oldEntries(begun).map(keyOfEntry) : [];
  return { each, fields: ['pk', 'sk', 'status', 'publisher_id'] };
}

function isFull(begun: BegunRecord | undefined): boolean {
  return (begun?.open ?? 0) >= config.publishing().MAX_PENDING_VERSIONS;
}

/** How many new nodes a publisher may have in a day; undefined if there is no limit. */
export function newNodesADay({ new_nodes_per_day }: PublisherRecord): number | undefined {
  const limits = [config.publishing().MAX_NEW_NODES_PER_DAY || [], new_nodes_per_day ?? []].flat();
  return limits.length > 0 ? Math.min(...limits) : undefined;
}

interface Admission extends Pick<Decision<unknown>, 'before' | 'beside'> {
  error?: ApiError;
}

/** How a publish takes an entry for its version, which may be pending already, or the error if there is no room. */
export function admit(
  own: Begun,
  begun: BegunRecord | undefined,
  { isPending, nodesADay }: { isPending: boolean; nodesADay: number | undefined },
  lookedUp: readonly NodeVersionRecord[],
): Admission {
  const { MAX_PENDING_VERSIONS } = config.publishing();
  const now = Date.now();
  const nodesToday = begun?.[`nodes:${dayOf(now)}`] ?? 0;
  if (nodesADay !== undefined && nodesToday >= nodesADay) {
    const message = `A publisher can publish ${nodesADay} new nodes a day; try again after midnight UTC.`;
    return { error: tooMany(message, secondsLeft('day', now)) };
  }
  // That of a publish that died may be left.
  if (isBegun(begun, own)) return {};
  if (isPending) return { beside: [(context) => recordPending(context, own)] };
  if (!isFull(begun)) return { before: (context) => takeEntry(context, own, []) };
  // One that was given away may wait for an archive of its new publisher.
  const isWaiting = ({ status, publisher_id }: NodeVersionRecord) =>
    status === pending && begunVersionsKey(publisher_id).pk === begun?.pk;
  const waiting = new Set(lookedUp.filter(isWaiting).map((version) => keyName(version)));
  const gone = oldEntries(begun).filter((name) => !waiting.has(keyName(keyOfEntry(name))));
  if (gone.length > 0) return { before: (context) => takeEntry(context, own, gone) };
  const message = `${MAX_PENDING_VERSIONS} versions of this publisher wait for their archives; upload those first.`;
  return { error: tooMany(message, pendingRetrySeconds) };
}

function isBegun(begun: BegunRecord | undefined, version: Omit<Begun, 'publisherId'>): boolean {
  return begun?.[entryName(version)] !== undefined;
}

/** Takes an entry in place of those that are gone. False if another publish was faster. */
async function takeEntry(context: Context, begun: Begun, gone: readonly EntryName[]): Promise<boolean> {
  const changes: Changes<BegunRecord> = { open: new Plus(1 - gone.length), [entryName(begun)]: Date.now() };
  for (const each of gone) changes[each] = null;
  const max = config.publishing().MAX_PENDING_VERSIONS - 1 + gone.length;
  const taken = updating<BegunRecord>(begunVersionsKey(begun.publisherId), changes, [
    [entryName(begun), 'absent'],
    ['open', 'absent or <=', max],
    ...gone.map((each) => [each, 'exists'] as const),
  ]);
  return write(context, taken);
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

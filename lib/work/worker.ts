import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { maxDelaySeconds } from '../aws/queue.ts';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { type JsonObject, parseObject } from '../json.ts';
import { describeError, log, withLogFields } from '../log.ts';
import { type Changes, typedRead } from '../store/items.ts';
import type { Key } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { update } from '../store/write.ts';
import {
  givenUpShard,
  type Lane,
  type LaneName,
  laneOf,
  lanes,
  lostAfterMs,
  type Owing,
  timeText,
} from './lanes.ts';
import { send, sendSoon } from './send.ts';

/**
 * What a handler says happened. `done`: the item owes nothing any more, or at another time. `more`: progress was made,
 * or it waits for others, and continues soon; that is no try. `again`: nothing was done, as if it had thrown; with why,
 * in fields of the item, and whether no try can succeed. `superseded`: somebody else's write was faster.
 */
export type Outcome = 'done' | 'more' | 'superseded' | 'again' | Failure;

interface Failure {
  again: object;
  isHopeless?: boolean;
}

interface Handler<Item extends Owing> {
  handle: (context: Context, item: Item) => Promise<Outcome>;
  /** Writes the changes of an item that is given up, and what else that means. False if it has changed. */
  giveUp?: (context: Context, item: Item, changes: Changes<Owing>) => Promise<boolean>;
  /**
   * The items that a message of another service is about, each with its group: that has none, so they are worked on by
   * messages of their own. Undefined if it can't be read.
   */
  itemsOf?: (context: Context, body: JsonObject) => Promise<(Key & { group: string })[] | undefined>;
  /** What the function does on its schedule, if it has one. */
  scheduled?: (context: Context) => Promise<unknown>;
}

type WorkHandler = (
  event: SQSEvent | object,
  invocation: EventInvocation,
) => Promise<SQSBatchResponse | undefined>;

/** The function of a lane. Only messages that it could not begin come again; whatever it began is in the item. */
export function worker<Item extends Owing>(name: LaneName, handler: Handler<Item>): WorkHandler {
  return async (event, invocation) => {
    const context = contextOf(invocation);
    const fields = { function: lanes[name].function, function_request_id: invocation.awsRequestId };
    return withLogFields(fields, async () => {
      if (!('Records' in event)) {
        await handler.scheduled?.(context);
        return undefined;
      }
      const { Records } = event as SQSEvent;
      const failures = await Promise.all(
        Records.map((message) => isInterrupted(context, name, handler, message)),
      );
      return { batchItemFailures: failures.flat() };
    });
  };
}

function isInterrupted<Item extends Owing>(
  context: Context,
  name: LaneName,
  handler: Handler<Item>,
  { messageId, body }: SQSRecord,
): Promise<SQSBatchResponse['batchItemFailures']> {
  return withLogFields({}, async () => {
    try {
      const content = parseObject(body) ?? {};
      const message = readMessage(content);
      const items = message ? [] : await handler.itemsOf?.(context, content);
      if (message) await work(context, name, handler, message);
      else if (items) await send(context, name, items);
      else log('error', 'work', { lane: name, outcome: 'unreadable', message: messageId });
      return [];
    } catch (error) {
      log('error', 'work', {
        lane: name,
        outcome: 'interrupted',
        message: messageId,
        ...describeError(error),
      });
      return [{ itemIdentifier: messageId }];
    }
  });
}

interface Message extends Key {
  /** Absent if another service had it sent: what that says is new, so its tries begin again. */
  tries?: number;
}

function readMessage({ pk, sk, tries }: JsonObject): Message | undefined {
  if (typeof pk !== 'string' || typeof sk !== 'string') return undefined;
  return typeof tries === 'number' ? { pk, sk, tries } : { pk, sk };
}

async function work<Item extends Owing>(
  context: Context,
  name: LaneName,
  handler: Handler<Item>,
  message: Message,
): Promise<void> {
  const { handle, giveUp: giveUpItem } = handler;
  const { tries: told, ...key } = message;
  const tries = told ?? 0;
  const read = typedRead<Item>();
  const found = read((await get(context, key))[0]);
  if (!found || laneOf(found) !== name || (told !== undefined && (found.tries ?? 0) !== told))
    return log('info', 'work', { lane: name, outcome: 'superseded', ...key });
  const { waitSeconds, moreSeconds }: Lane = lanes[name];
  const isCounted = waitSeconds.length > 0;
  const change = (changes: Changes<Owing>, triesBefore: number) =>
    update<Owing>(context, key, changes, [
      ['pending_shard', '=', found.pending_shard],
      ['tries', '=', triesBefore],
    ]);
  let item = found;
  const giveUp = async (why: object) => {
    const changes = { ...why, pending_shard: givenUpShard(name), pending_since: timeText(Date.now()) };
    const isWritten = giveUpItem
      ? await giveUpItem(context, item, changes)
      : (await change(changes, item.tries ?? 0)).written;
    if (isWritten) log('warn', 'work', { lane: name, outcome: 'given_up', ...key });
  };
  // The last try died.
  if (isCounted && tries > waitSeconds.length) return giveUp({});
  if (isCounted) {
    const begun = await change({ tries: tries + 1, ...leased(name, found) }, found.tries ?? 0);
    // Another try has begun: for the same message, or without knowing what a service says now.
    if (!begun.written) return told === undefined ? work(context, name, handler, message) : undefined;
    item = read({ ...begun.item });
  }
  const outcome = await handle(context, item).catch((error: unknown) => {
    const failed = { lane: name, outcome: 'failed', tries: tries + 1, ...key };
    log('error', 'work', { ...failed, ...describeError(error) });
    return { again: { last_error: String(error) } };
  });
  if (outcome === 'done' || outcome === 'superseded') return;
  if (outcome === 'more') {
    const pending_since = timeText(Date.now() + lostAfterMs);
    const { written } = await change({ tries, pending_since }, isCounted ? tries + 1 : tries);
    if (written) await sendSoon(context, name, { ...found, tries }, moreSeconds);
    return;
  }
  const { again = {}, isHopeless = false }: Partial<Failure> = outcome === 'again' ? {} : outcome;
  if (!isCounted) {
    // The hand-over has said when it is looked at again.
    const isOwing = [['pending_shard', '=', found.pending_shard]] as const;
    if (outcome !== 'again') await update<Owing>(context, key, { ...again, tries: tries + 1 }, isOwing);
    return;
  }
  const wait = waitSeconds[tries];
  if (isHopeless || wait === undefined) return giveUp(again);
  // Up to a fifth earlier: what failed together must not return together.
  const seconds = Math.round(wait * (1 - Math.random() / 5));
  // The queue can't wait longer, so the item does.
  const isQueued = seconds <= maxDelaySeconds;
  const pending_since = timeText(Date.now() + seconds * 1000 + (isQueued ? lostAfterMs : 0));
  const { written } = await change({ ...again, pending_since }, tries + 1);
  if (written && isQueued) await sendSoon(context, name, { ...found, tries: tries + 1 }, seconds);
}

/** If it is not to be looked at soon after the try's limit, it is then: the try may be killed. */
function leased(name: LaneName, { pending_since = '' }: Owing): Changes<Owing> {
  const until = Date.now() + lanes[name].leaseSeconds * 1000;
  const due = Date.parse(pending_since);
  return due >= until && due <= Date.now() + lostAfterMs ? {} : { pending_since: timeText(until) };
}

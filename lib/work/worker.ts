import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { maxDelaySeconds } from '../aws/queue.ts';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { type JsonObject, parseObject } from '../json.ts';
import { describeError, log, withLogFields } from '../log.ts';
import { type Changes, typedRead } from '../store/items.ts';
import { type Key, keyOf } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { updating, write, writeOne, type WriteResult } from '../store/write.ts';
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
 * What a handler says happened. `done`: the item owes nothing any more, or at another time, or somebody else's write was
 * faster. `more`: progress was made, or it waits for others, and continues soon; that is no try. `again`: nothing was
 * done, as if it had thrown; with why, in fields of the item, and whether no try can succeed.
 */
export type Outcome = 'done' | 'more' | Failure;

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
  const lane = new Worker(name, handler);
  return async (event, invocation) => {
    const context = contextOf(invocation);
    const fields = { function: lanes[name].function, function_request_id: invocation.awsRequestId };
    return withLogFields(fields, async () => {
      if (!('Records' in event)) {
        await handler.scheduled?.(context);
        return undefined;
      }
      const { Records } = event as SQSEvent;
      const failures = await Promise.all(Records.map((message) => lane.isInterrupted(context, message)));
      return { batchItemFailures: failures.flat() };
    });
  };
}

interface Message extends Key {
  /** Absent if another service had it sent: what that says is new, so its tries begin again. */
  tries?: number;
}

function readMessage({ pk, sk, tries }: JsonObject): Message | undefined {
  if (typeof pk !== 'string' || typeof sk !== 'string') return undefined;
  return typeof tries === 'number' ? { pk, sk, tries } : { pk, sk };
}

class Worker<Item extends Owing> {
  readonly #name: LaneName;
  readonly #handler: Handler<Item>;
  readonly #lane: Lane;

  constructor(name: LaneName, handler: Handler<Item>) {
    this.#name = name;
    this.#handler = handler;
    this.#lane = lanes[name];
  }

  isInterrupted(context: Context, { messageId: itemIdentifier, body }: SQSRecord) {
    return withLogFields({}, async () => {
      try {
        const content = parseObject(body) ?? {};
        const message = readMessage(content);
        const items = message ? [] : await this.#handler.itemsOf?.(context, content);
        if (message) await this.#work(context, message);
        else if (items) await send(context, this.#name, items);
        else this.#log('error', 'unreadable', { message: itemIdentifier });
        return [];
      } catch (error) {
        this.#log('error', 'interrupted', { message: itemIdentifier, ...describeError(error) });
        return [{ itemIdentifier }];
      }
    });
  }

  #log(level: 'info' | 'warn' | 'error', outcome: string, fields: object): void {
    log(level, 'work', { lane: this.#name, outcome, ...fields });
  }

  async #work(context: Context, message: Message): Promise<void> {
    const { tries: told, ...key } = message;
    const tries = told ?? 0;
    const read = typedRead<Item>();
    let item = read((await get(context, key))[0]);
    if (!item || laneOf(item) !== this.#name || (told !== undefined && (item.tries ?? 0) !== told))
      return this.#log('info', 'superseded', key);
    const { waitSeconds, moreSeconds } = this.#lane;
    if (waitSeconds.length > 0) {
      // The last try died.
      if (tries > waitSeconds.length) return this.#giveUp(context, item, {});
      const begun = await change(context, item, { tries: tries + 1, ...leased(this.#lane, item) });
      // Another try has begun: for the same message, or without knowing what a service says now.
      if (!begun.written) return told === undefined ? this.#work(context, message) : undefined;
      item = read({ ...begun.item });
    }
    const outcome = await this.#handler.handle(context, item).catch((error: unknown) => {
      this.#log('error', 'failed', { tries: tries + 1, ...key, ...describeError(error) });
      return { again: { last_error: String(error) } };
    });
    if (outcome === 'more') await this.#repeat(context, item, { tries }, moreSeconds);
    else if (typeof outcome === 'object') await this.#fail(context, item, outcome);
  }

  /** What becomes of an item whose try failed, which is counted already if the lane counts tries. */
  async #fail(context: Context, item: Item, { again, isHopeless }: Failure): Promise<void> {
    const { tries = 0, pending_shard } = item;
    const { waitSeconds } = this.#lane;
    if (waitSeconds.length === 0) {
      // The hand-over has said when it is looked at again.
      const changes = { ...again, tries: tries + 1 };
      await write(context, updating<Owing>(item, changes, [['pending_shard', '=', pending_shard]]));
      return;
    }
    const wait = waitSeconds[tries - 1];
    if (isHopeless || wait === undefined) return this.#giveUp(context, item, again);
    // Up to a fifth earlier: what failed together must not return together.
    await this.#repeat(context, item, { ...again, tries }, Math.round(wait * (1 - Math.random() / 5)));
  }

  async #repeat(context: Context, item: Item, changes: { tries: number }, seconds: number): Promise<void> {
    // The queue can't wait longer, so the item does.
    const isQueued = seconds <= maxDelaySeconds;
    const pending_since = timeText(Date.now() + seconds * 1000 + (isQueued ? lostAfterMs : 0));
    const { written } = await change(context, item, { ...changes, pending_since });
    if (written && isQueued) await sendSoon(context, this.#name, { ...item, tries: changes.tries }, seconds);
  }

  async #giveUp(context: Context, item: Item, why: object): Promise<void> {
    const pending_shard = givenUpShard(this.#name);
    const changes = { ...why, pending_shard, pending_since: timeText(Date.now()) };
    const isWritten = this.#handler.giveUp
      ? await this.#handler.giveUp(context, item, changes)
      : (await change(context, item, changes)).written;
    if (isWritten) this.#log('warn', 'given_up', keyOf(item));
  }
}

/** Unless somebody else's write was faster. */
function change(context: Context, item: Owing, changes: Changes<Owing>): Promise<WriteResult<Owing>> {
  const changed = updating(item, changes, [
    ['pending_shard', '=', item.pending_shard],
    ['tries', '=', item.tries ?? 0],
  ]);
  return writeOne(context, changed);
}

/** If it is not to be looked at soon after the try's limit, it is then: the try may be killed. */
function leased({ leaseSeconds }: Lane, { pending_since = '' }: Owing): Changes<Owing> {
  const until = Date.now() + leaseSeconds * 1000;
  const due = Date.parse(pending_since);
  return due >= until && due <= Date.now() + lostAfterMs ? {} : { pending_since: timeText(until) };
}

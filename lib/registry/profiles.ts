import { isDeepStrictEqual } from 'node:util';
import { memberIdOf } from '../caller.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { ApiError, errorCatalog } from '../errors.ts';
import { absent, type Changes, namesIn, onRevision, Plus, withChanges } from '../store/items.ts';
import { newPublishersKey, personKey, publisherKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { putting, updating, type Write } from '../store/write.ts';
import { dayOf, secondsLeft } from '../windows.ts';
import { change, changeOf } from './changes.ts';
import { blockOf, may } from './may.ts';
import { listing } from './publishers.ts';
import {
  type Changed,
  type Actor,
  type MadeRecord,
  madeRecord,
  type PublisherRecord,
  publisherRecord,
} from './records.ts';

/* Publishers and their profiles. */

export type Profile = Pick<
  Changes<PublisherRecord>,
  'name' | 'description' | 'logo' | 'source_code_repo' | 'support' | 'website'
>;

export type NewPublisher = Pick<PublisherRecord, 'id'> & Profile;

/** Makes a publisher. A person becomes its owner, within limits; the operator makes one without members. */
export async function createPublisher(
  context: Context,
  by: Actor,
  fields: NewPublisher,
): Promise<PublisherRecord> {
  const key = publisherKey(fields.id);
  const person = 'operator' in by ? undefined : by;
  const day = dayOf(Date.now());
  const first = {
    publisher: key,
    made: person && personKey(memberIdOf(person.userId)),
    today: person && newPublishersKey(day),
    block: blockOf(by),
  };
  const { result } = await change(context, by, { first }, ({ publisher, made, today, block }, { now }) => {
    may(by, 'create publisher', { publisher: publisherRecord(publisher), block });
    const blank = {
      ...key,
      id: fields.id,
      createdAt: new Date(now).toISOString(),
      members: {},
      revision: 1,
    };
    const record = withChanges<PublisherRecord>(blank, fields);
    const writes: Write[] = [];
    if (person) {
      if (isReserved(fields.id)) throw new ApiError('publisher_id_taken');
      writes.push(...counted([madeRecord(made), madeRecord(today)], { by: person.userId, day, now }));
      writes.push(listing(person.userId, fields.id));
      record.members = { [person.userId]: { role: 'owner' } };
      record.new_nodes_per_day = config.selfService().OWN_NEW_NODES_PER_DAY;
    }
    return {
      change: { of: key, action: 'publisher create', subject: fields.id },
      writes: [putting(record, absent), ...writes],
      result: record,
    };
  });
  return result;
}

const keptSeconds = 3 * 24 * 60 * 60;

/** Counts a publisher for its maker and for the day, unless one of both is at its limit. */
function counted(
  [person, today]: [MadeRecord | undefined, MadeRecord | undefined],
  { by, day, now }: { by: string; day: string; now: number },
): Write[] {
  const { PUBLISHERS_PER_PERSON, NEW_PUBLISHERS_PER_DAY } = config.selfService();
  if ((person?.publishers ?? 0) >= PUBLISHERS_PER_PERSON) {
    const message = `A person may make ${PUBLISHERS_PER_PERSON} publishers. Ask the operator for more.`;
    throw new ApiError('too_many_requests', { message });
  }
  if ((today?.publishers ?? 0) >= NEW_PUBLISHERS_PER_DAY) {
    const message = 'No more publishers can be made today. Try again tomorrow.';
    const headers = { 'retry-after': String(secondsLeft('day', now)) };
    throw new ApiError('too_many_requests', { message, headers });
  }
  const ttl = Math.ceil(now / 1000) + keptSeconds;
  return [
    updating<MadeRecord>(personKey(memberIdOf(by)), { publishers: new Plus(1) }, [
      ['publishers', 'absent or <=', PUBLISHERS_PER_PERSON - 1],
    ]),
    updating<MadeRecord>(newPublishersKey(day), { publishers: new Plus(1), ttl }, [
      ['publishers', 'absent or <=', NEW_PUBLISHERS_PER_DAY - 1],
    ]),
  ];
}

/** The names of routes where an id may stand, and names that would speak for the operator. */
const reservedIds = ['validate', 'api', 'admin', 'registry', 'the-registry', 'node-registry'];

function isReserved(id: string): boolean {
  const { RESERVED_PUBLISHER_IDS } = config.selfService();
  const reserved = [...reservedIds, config.registry().TABLE_NAME, ...RESERVED_PUBLISHER_IDS];
  return reserved.some((each) => looksOf(each) === looksOf(id));
}

/** Equal for ids that a reader may take for each other. */
function looksOf(id: string): string {
  return id
    .toLowerCase()
    .replace(/[-_.]/g, '')
    .replace(/[1i]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('5', 's')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

/** Why no person can make a publisher of this id now; undefined if one can. */
export async function whyNotFree(context: Context, id: string): Promise<string | undefined> {
  const [item] = await get(context, publisherKey(id));
  return item || isReserved(id) ? errorCatalog.publisher_id_taken.message : undefined;
}

/** Changes a publisher's own description: undefined keeps a field, null clears it. */
export function editPublisher(
  context: Context,
  by: Actor,
  publisherId: string,
  fields: Profile,
): Promise<Changed<PublisherRecord>> {
  return changeOf(context, by, { publisherId, action: 'edit publisher' }, (publisher) => {
    const after = withChanges(publisher, fields);
    if (isDeepStrictEqual(after, publisher)) return { done: publisher };
    const detail = namesIn(fields).join(', ');
    return {
      change: { of: publisher, action: 'publisher update', subject: publisher.id, detail },
      writes: [updating(publisher, fields, onRevision(publisher))],
      result: after,
    };
  });
}

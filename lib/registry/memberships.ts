import { memberIdOf } from '../caller.ts';
import type { Context } from '../context.ts';
import { always } from '../store/items.ts';
import { keyName, membershipKey, publisherKey } from '../store/keys.ts';
import { queryAll, readAll } from '../store/read.ts';
import { deleting, updating, type Write } from '../store/write.ts';
import { memberOf } from './publishers.ts';
import { type MembershipRecord, membershipRecord, type PublisherRecord, publisherRecord } from './records.ts';

/* Which publishers a person is a member of. Members are in the publisher's record: these only lead to it. */

export function listing(userId: string, publisherId: string): Write {
  const key = membershipKey(memberIdOf(userId), publisherId);
  return updating<MembershipRecord>(key, { publisher: publisherId }, always);
}

export function unlisting(userId: string, publisherId: string): Write {
  return deleting<MembershipRecord>(membershipKey(memberIdOf(userId), publisherId), always);
}

/** By id. A publisher that was renamed or merged is listed under its new id. */
export async function publishersOf(context: Context, userId: string): Promise<PublisherRecord[]> {
  const items = await queryAll(context, membershipKey(memberIdOf(userId), ''));
  const found = new Map<string, PublisherRecord>();
  let ids = items.map((item) => membershipRecord(item).publisher);
  while (ids.length > 0) {
    const keys = new Map(ids.map((id) => [keyName(publisherKey(id)), publisherKey(id)]));
    const publishers = (await readAll(context, [...keys.values()])).map(publisherRecord);
    for (const publisher of publishers)
      if (publisher.moved_to === undefined && memberOf(publisher, userId)) found.set(publisher.id, publisher);
    ids = publishers.flatMap(({ moved_to }) => moved_to ?? []);
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

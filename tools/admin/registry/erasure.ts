import { randomUUID } from 'node:crypto';
import { callerName, erasedCaller, memberIdOf } from '../../../lib/caller.ts';
import { inParallel } from '../../../lib/in-parallel.ts';
import {
  historyOf,
  type Operator,
  type PublisherRecord,
  publisherRecord,
} from '../../../lib/registry/records.ts';
import { keyOfAccount } from '../../../lib/attempts/account.ts';
import { type Changes, present, typedRead } from '../../../lib/store/items.ts';
import { type Key, keyOf, personKey, subjectOf } from '../../../lib/store/keys.ts';
import { deleting, updating, write } from '../../../lib/store/write.ts';
import { newContext, Rejection, scan } from './administration.ts';
import { isLastOwner } from '../../../lib/registry/publishers.ts';
import { removeMember } from '../../../lib/registry/members.ts';

/*
 * Removes a person's name from every record. Each step is one write that holds only while the name is there,
 * so an interrupted command is run again as a whole. Sums stay: the ledger's keys have a hash of the name,
 * which replaces it from then on.
 */

/** The attributes, in records of any kind, that name a person. */
interface Naming extends Key {
  action?: string;
  actor?: string;
  caller?: string;
  edited_by?: string;
  published_by?: string;
  subject?: string;
  /** Whom an invitation is for. */
  user_id?: string;
}

const namingRecord = typedRead<Naming>();

const maxAtOnce = 16;

export interface Person {
  /** The publishers that the person is a member of. */
  publishers: PublisherRecord[];
  /** Those among them that would be left without an owner. */
  lastOwnerOf: string[];
  /** The other records that name the person. */
  naming: Naming[];
}

/** Everything that names a person. Changes nothing. */
export async function findPerson(userId: string): Promise<Person> {
  const caller = callerName({ userId });
  const fields = ['pk', 'sk', 'id', 'members', 'action', 'actor', 'caller', 'subject'];
  const found = scan({
    fields: [...fields, 'edited_by', 'published_by', 'user_id'],
    FilterExpression:
      'attribute_exists(members.#user) OR caller = :caller OR actor = :caller OR edited_by = :caller OR published_by = :user OR user_id = :user OR pk = :person OR subject IN (:caller, :user)',
    ExpressionAttributeNames: { '#user': userId },
    ExpressionAttributeValues: {
      ':caller': { S: caller },
      ':user': { S: userId },
      ':person': { S: personKey(memberIdOf(userId)).pk },
    },
  });
  const [publishers, naming]: [PublisherRecord[], Naming[]] = [[], []];
  for await (const item of found) {
    if (subjectOf(keyOf(item))?.subject === 'PUBLISHER') publishers.push(publisherRecord(item));
    else if (isOwn(namingRecord(item), userId) || erasedName(namingRecord(item), userId))
      naming.push(namingRecord(item));
  }
  const lastOwnerOf = publishers.filter((publisher) => isLastOwner(publisher, userId)).map(({ id }) => id);
  return { publishers, lastOwnerOf, naming };
}

/** Returns how many records named the person. Nothing puts names back, so memberships, which may be rejected, go first. */
export async function erasePerson(
  actor: Operator,
  userId: string,
  { publishers, lastOwnerOf, naming }: Person,
  options: { force?: boolean | undefined },
): Promise<number> {
  if (lastOwnerOf.length > 0 && !options.force)
    throw new Rejection(
      `Nothing was erased. "${userId}" is the last owner of ${lastOwnerOf.join(', ')}: add another owner first, or insist with --force.`,
    );
  const caller = callerName({ userId });
  // Without a name in the history.
  for (const { id } of publishers)
    await removeMember(newContext(), actor, id, userId, {
      ...options,
      of: { action: 'person erase', subject: id },
    });
  let done = 0;
  await inParallel(naming.values(), maxAtOnce, async (record) => {
    await eraseName(record, userId);
    done += 1;
    if (done % 1000 === 0) process.stderr.write(`${done} of ${naming.length} records are done.\n`);
  });
  const records = publishers.length + naming.length;
  const change = { of: keyOfAccount(erasedCaller(caller)), action: 'person erase', subject: 'erased' };
  const once = { id: randomUUID(), now: Date.now() };
  if (records > 0) await write(newContext(), historyOf(actor, change, once));
  return records;
}

/** What is about this person only: memberships, what they made, and invitations of theirs. */
function isOwn({ pk, user_id }: Naming, userId: string): boolean {
  return pk === personKey(memberIdOf(userId)).pk || user_id === userId;
}

/** What replaces the name in a record. Undefined for a record that names something else of this name. */
function erasedName(record: Naming, userId: string): Changes<Naming> | undefined {
  const caller = callerName({ userId });
  const isMembers = record.action?.startsWith('member ') ?? false;
  const changes: Changes<Naming> = {
    ...(record.caller === caller && { caller: erasedCaller(caller) }),
    ...(record.actor === caller && { actor: 'erased' }),
    ...(record.edited_by === caller && { edited_by: 'erased' }),
    ...(record.published_by === userId && { published_by: 'erased' }),
    ...((record.subject === caller || (isMembers && record.subject === userId)) && { subject: 'erased' }),
  };
  return Object.keys(changes).length > 0 ? changes : undefined;
}

async function eraseName(record: Naming, userId: string): Promise<void> {
  const changes = erasedName(record, userId) ?? {};
  const [first] = Object.keys(changes) as (keyof Naming)[];
  const erased = first && updating(record, changes, [[first, '=', record[first] ?? '']]);
  const erasing = isOwn(record, userId) ? deleting(record, present) : erased;
  if (erasing) await write(newContext(), erasing);
}

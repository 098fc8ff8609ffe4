import { callerName, erasedCaller } from '../../../lib/caller.ts';
import { inParallel } from '../../../lib/in-parallel.ts';
import { publisherRecord } from '../../../lib/registry/records.ts';
import { keyOfAccount } from '../../../lib/spend/account.ts';
import { type Changes, typedRead } from '../../../lib/store/items.ts';
import { type Key, keyOf, subjectOf } from '../../../lib/store/keys.ts';
import { transact, update } from '../../../lib/store/write.ts';
import { adminHistory, newContext, Rejection, scan } from './administration.ts';
import { removeMember } from './publishers.ts';

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
}

const namingRecord = typedRead<Naming>();

const maxAtOnce = 16;

interface Erasure {
  /** How many records named the person. */
  records: number;
  /** Why it is still a member of some publishers. */
  problems: string[];
}

export async function erasePerson(
  userId: string,
  options: { force?: boolean | undefined },
): Promise<Erasure> {
  const caller = callerName({ userId });
  const found = scan({
    FilterExpression:
      'attribute_exists(members.#user) OR caller = :caller OR actor = :caller OR edited_by = :caller OR published_by = :user OR subject IN (:caller, :user)',
    ExpressionAttributeNames: { '#user': userId },
    ExpressionAttributeValues: { ':caller': { S: caller }, ':user': { S: userId } },
  });
  const problems: string[] = [];
  let records = 0;
  await inParallel(found, maxAtOnce, async (item) => {
    if (subjectOf(keyOf(item))?.subject === 'PUBLISHER') {
      const { id } = publisherRecord(item);
      // Without a name in the history.
      const change = { action: 'person erase', subject: id };
      await removeMember(id, userId, options, change).catch((error: unknown) => {
        if (!(error instanceof Rejection)) throw error;
        problems.push(error.message);
      });
    } else if (!(await eraseName(namingRecord(item), { userId, caller }))) return;
    records += 1;
  });
  const change = { of: keyOfAccount(erasedCaller(caller)), action: 'person erase', subject: 'erased' };
  if (records > 0) await transact(newContext(), [adminHistory(change)]);
  return { records, problems };
}

/** False for a record that names something else of this name. */
async function eraseName(
  record: Naming,
  { userId, caller }: { userId: string; caller: string },
): Promise<boolean> {
  const isMembers = record.action?.startsWith('member ') ?? false;
  const changes: Changes<Naming> = {
    ...(record.caller === caller && { caller: erasedCaller(caller) }),
    ...(record.actor === caller && { actor: 'erased' }),
    ...(record.edited_by === caller && { edited_by: 'erased' }),
    ...(record.published_by === userId && { published_by: 'erased' }),
    ...((record.subject === caller || (isMembers && record.subject === userId)) && { subject: 'erased' }),
  };
  const [name] = (['caller', 'actor', 'edited_by', 'published_by', 'subject'] as const).filter(
    (each) => changes[each] !== undefined,
  );
  if (name === undefined) return false;
  await update<Naming>(newContext(), record, changes, [[name, '=', record[name] ?? '']]);
  return true;
}

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { type Context, requestContext } from '../../../lib/context.ts';
import { type Decision, decide, type Once } from '../../../lib/store/decide.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { absent, type Item, onRevision, present, typedRead } from '../../../lib/store/items.ts';
import { type Key, nodeKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { checking, deleting, putting, updating } from '../../../lib/store/write.ts';
import { stopDate } from '@node-registry/testing/clock';
import { beforeNext } from '../../support/intercept.ts';
import { countRequests, setFields } from '../../support/registry.ts';

interface Counter extends Key {
  revision: number;
  count: number;
  next?: string;
}

const counter = typedRead<Counter>();
const context = (): Context => requestContext({});

async function stored(fields: Partial<Counter> = {}): Promise<Key> {
  const key = nodeKey(randomUUID());
  const record = { ...key, revision: 1, count: 1, ...fields };
  return decide(context(), { first: {} }, () => ({ writes: [putting(record, absent)], result: key }));
}

/** A decision, as a test can call it without a store. */
function countUp({ item }: { item: Item | undefined }, { now }: Once): Decision<number> {
  const current = counter(item);
  if (!current) return { error: new Error('There is no counter.') };
  const count = current.count + 1;
  return { writes: [updating(current, { count }, onRevision(current))], result: now && count };
}

const itemOf = async (key: Key) => (await get(context(), key))[0];

describe('decide', () => {
  test('writes one write alone, several or a check as a transaction, and nothing without a call', async () => {
    const key = await stored();
    const put = putting({ ...nodeKey(randomUUID()), count: 1 }, absent);
    const sent = [];
    for (const writes of [[put], [deleting(put.key, present)], [put, checking(key, present)], []]) {
      const work = () => decide(context(), { first: { item: key } }, () => ({ writes, result: 1 }));
      sent.push((await countRequests(work)).requests.slice(1));
    }

    expect(sent).toEqual([['PutItemCommand'], ['DeleteItemCommand'], ['TransactWriteItemsCommand'], []]);
  });

  test('reads and decides again if another writer was faster, with the id of the first round and a time of its own', async () => {
    const key = await stored();
    const made: Once[] = [];
    const began = Date.now();
    stopDate(began);
    const race = beforeNext(dynamodb, /^UpdateItem/, async () => {
      await setFields(key, { count: 40 });
      stopDate(began + 1000);
    });
    const count = await decide(context(), { first: { item: key } }, (found, once) => {
      made.push(once);
      return countUp(found, once);
    });

    expect([count, race.happened(), made.length]).toEqual([41, true, 2]);
    expect(made).toEqual([
      { id: made[0]?.id, now: began },
      { id: made[0]?.id, now: began + 1000 },
    ]);
  });

  test('reads what the first records name: a record, a range, a page and some records', async () => {
    const other = await stored();
    const key = await stored({ next: other.pk });
    const each = [key, other];
    const found = await decide(
      context(),
      {
        first: { item: key },
        following: ({ item }) => {
          const named = { pk: String(item?.next), sk: 'NODE' };
          return { named, range: { below: named }, none: { below: undefined, limit: 9 }, some: { each } };
        },
      },
      (result) => ({ result }),
    );

    const item = await itemOf(other);
    expect(found).toMatchObject({ named: item, range: [item], none: [] });
    expect(found.some).toHaveLength(2);
    expect(found.some).toContainEqual(await itemOf(key));
  });
});

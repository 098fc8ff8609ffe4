import { get } from '../../../lib/store/read.ts';
import type { Item } from '../../../lib/store/items.ts';
import { givenUpShard, laneNames, laneOf, lanes } from '../../../lib/work/lanes.ts';
import { command, UsageError } from '../command.ts';
import { newContext, Rejection } from '../registry/administration.ts';
import { listWork } from '../registry/work.ts';
import { fieldsOf, tableOf } from '../view.ts';

const maxListed = 1000;

const nameOf = ({ pk, sk }: Item) => `${pk}/${sk}`;

export const list = command({
  parameters: [],
  summary: 'List the work that waits, or that was given up',
  readsOnly: true,
  notes: `The lanes are ${laneNames.join(', ')}. At most 1,000 of each are listed, by the time when they are looked at again; given-up ones, the latest first.`,
  options: {
    lane: { value: 'LANE', about: 'Only this lane' },
    'given-up': { about: 'List what was given up' },
  },
  examples: ['work list', 'work list --lane deliver --given-up'],
  async run(_, { lane, 'given-up': isGivenUp = false }) {
    const chosen = laneNames.filter((name) => lane === undefined || name === lane);
    if (chosen.length === 0) throw new UsageError(`--lane takes one of ${laneNames.join(', ')}.`);
    const found = await Promise.all(
      chosen.map(async (name) =>
        (await listWork(name, isGivenUp, maxListed)).map((item) => ({ name, item })),
      ),
    );
    const time = isGivenUp ? 'given_up' : 'next_look';
    const data = found.flat().map(({ name, item }) => ({
      lane: name,
      key: nameOf(item),
      group: item.group,
      tries: item.tries,
      [time]: item.pending_since,
    }));
    const none = isGivenUp ? 'Nothing was given up.' : 'Nothing waits.';
    return { data, text: tableOf(data, none, ['lane', 'key', time]) };
  },
});

export const show = command({
  parameters: ['key'],
  summary: 'Show what an item owes, by its key in work list',
  readsOnly: true,
  examples: ['work show TASK#0f3a…/NOTIFICATION#0001'],
  async run({ key }) {
    const [, pk, sk] = /^([^/]+)\/(.+)$/.exec(key) ?? [];
    if (pk === undefined || sk === undefined) throw new UsageError('A key is as work list shows it: PK/SK.');
    const [item] = await get(newContext(), { pk, sk });
    if (!item) throw new Rejection(`There is no item ${key}.`);
    const owing = { ...item, pk, sk };
    const givenUp = laneNames.find((name) => item.pending_shard === givenUpShard(name));
    const lane = laneOf(owing) ?? givenUp;
    const { group, tries, pending_since, last_error, status_reason } = item;
    const data = {
      key,
      lane,
      function: lane && lanes[lane].function,
      group,
      tries,
      [givenUp ? 'given_up' : 'next_look']: pending_since,
      last_error,
      status_reason,
    };
    return { data, text: lane ? fieldsOf(data) : `${key} owes nothing.` };
  },
});

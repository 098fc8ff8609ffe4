import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import type { SQSEvent } from 'aws-lambda';
import { release } from '../../infra/release.ts';
import { builtFunctions } from '../infra/packaging.ts';
import { emptyTable, readTable, type TableImage } from '../support/table-image.ts';
import { journeys, type Known } from './journeys.ts';
import { checkOut, type Side, sideOf } from './side.ts';
import { addition, addToAll, dropped, missing } from './stage.ts';

/*
 * While a release is deployed, and after it is rolled back, its functions and those of the release before serve one
 * table, one bucket and one set of queues. So each release must stand what the next one adds; and the tag of the
 * release before, if this one upgrades any, is built and takes turns with this tree, step by step, each with the rights
 * of the other: roles change before or after the code.
 */

const names = Object.keys(journeys);
const [dist, before] = await Promise.all([
  builtFunctions(),
  release.before === undefined ? undefined : checkOut(release.before),
]);
const own = { root: resolve('.'), dist };
if (before) {
  const rights: Record<string, unknown> = JSON.parse(String(process.env.TEST_STATEMENTS));
  const earlier = { ...rights, ...before.rights };
  const named = Object.entries(earlier).map(([name, list]) => [`${name}~before`, list]);
  process.env.TEST_STATEMENTS = JSON.stringify({ ...rights, ...Object.fromEntries(named) });
}
const today = sideOf(own);

/** What a step of a side found, and what it left. Returns what the next one finds. */
type Seen = (side: Side, step: string, found: TableImage, left: TableImage) => Promise<TableImage>;

/** Makes the steps of a journey, each by the side that `choose` names. */
async function travel(name: string, choose: (place: number) => Side, see: Seen): Promise<void> {
  await emptyTable();
  const known: Known = { id: randomUUID().slice(0, 8) };
  let found: TableImage = new Map();
  for (const [place, step] of (journeys[name] ?? []).entries()) {
    const [side, title] = [choose(place), `${name}, step ${place + 1}`];
    await step(side, known).catch((error: Error) => {
      throw new Error(`${title}: ${error.message}`, { cause: error });
    });
    found = await see(side, title, found, await readTable());
  }
}

/** A function gets messages with a field more. */
const later: Side = {
  ...today,
  run(name, input) {
    const { Records = [] } = input as Partial<SQSEvent>;
    const added = Records.map((record) =>
      'body' in record
        ? { ...record, body: JSON.stringify({ ...JSON.parse(record.body), ...addition }) }
        : record,
    );
    return today.run(name, Records.length > 0 ? { Records: added } : input);
  },
};

test.each(names)(
  'stands and keeps what a later release adds to items, files and messages: %s',
  async (name) => {
    const see: Seen = async (_, step, found, left) => {
      expect([step, dropped(found, left).filter(([attribute]) => attribute in addition)]).toEqual([step, []]);
      return addToAll(left);
    };
    await travel(name, () => later, see);
  },
);

if (before) {
  const last = sideOf(before);
  const next = sideOf(own, '~before');

  test.each(names)(`takes turns with ${release.before}: %s`, async (name) => {
    const known = new Set<string>();
    const lost: (readonly [attribute: string, key: string, step: string])[] = [];
    const see: Seen = async (side, step, found, left) => {
      if (side === last) {
        for (const [attribute] of missing(left, found)) known.add(attribute);
        lost.push(...dropped(found, left).map((each) => [...each, step] as const));
      }
      return left;
    };
    // Each step is made by either.
    await travel(name, (place) => (place % 2 === 0 ? last : next), see);
    await travel(name, (place) => (place % 2 === 0 ? next : last), see);

    expect(lost.filter(([attribute]) => !known.has(attribute))).toEqual([]);
  });
}

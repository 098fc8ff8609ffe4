import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { directory } from '@node-registry/testing/folders';
import { release } from '../../infra/release.ts';
import { bundleRelease, readRecordedRelease } from '../../tools/release/recorded-release.ts';
import { ownStatements, statementsOf } from '../support/rights.ts';
import '../support/in-order.ts';
import { Actor, hold } from './actor.ts';
import { journeys, type State } from './journeys.ts';
import { type Running, type Stage, startRelease, startStage, strangeExpiries, unpack } from './stage.ts';

/*
 * The functions of the last release next to today's, on a table that the last release has filled. A journey's steps say
 * what must hold, and any of them may be made by either.
 */

jest.setTimeout(120_000);

const names = Object.keys(journeys);

let stage: Stage;
let today: Record<string, string>;
let running: Record<'old' | 'new' | 'changed', Running>;
let actors: Record<'old' | 'new', Actor>;
/** Where the last release left each journey. */
const filled = new Map<string, State>();

const middleOf = (name: string) => Math.ceil((journeys[name]?.length ?? 0) / 2);

/** Makes the steps of a journey from one on, each by the actor that `choose` names. */
async function travel(name: string, choose: (place: number) => Actor, from = 0, state: State = {}) {
  for (const [place, step] of [...(journeys[name] ?? [])].entries())
    if (place >= from)
      await step(choose(place), state).catch((error: Error) => {
        throw new Error(`${error.message}\n${name}, step ${place}`, { cause: error });
      });
}

beforeAll(async () => {
  const last = await readRecordedRelease();
  [today, stage] = await Promise.all([bundleRelease(false), startStage()]);
  const rights = { old: statementsOf(last.templates.full), new: new Map(ownStatements()) };
  // Roles change before or after the code, and a rollback takes them back first, so each has the rights of the other. No
  // stage runs what was never released.
  const given =
    release.before === undefined ? rights : { old: rights.new, new: new Map([...rights.new, ...rights.old]) };
  running = {
    old: startRelease('old', await unpack(join(directory, 'old'), last.files), stage, given.old),
    new: startRelease('new', await unpack(join(directory, 'new'), today), stage, given.new),
    changed: startRelease('changed', join(directory, 'new'), stage),
  };
  actors = { old: new Actor(stage, running.old), new: new Actor(stage, running.new) };
  for (const [name, steps] of Object.entries(journeys)) {
    const state: State = {};
    for (const step of steps.slice(0, middleOf(name))) await step(actors.old, state);
    filled.set(name, state);
  }
});

afterAll(async () => {
  await Promise.all(Object.values(running).map((each) => each.process.stop()));
  await stage.stop();
});

test.each(names)("today's functions continue what the last release began: %s", async (name) => {
  await travel(name, () => actors.new, middleOf(name), filled.get(name));
});

/** Changes that no release may make at once: the journey that finds it, the rule that breaks, and how it is made. */
const incompatible: [change: string, journey: string, rule: string, from: RegExp, to: string][] = [
  ['a renamed attribute', 'ban', 'no download is lost', /\barchive_key\b/g, 'archive_name'],
  ['an unknown state', 'ban', 'publish-node-version answers 403', /"NodeStatusBanned"/g, '"Blocked"'],
  ['another hash of a key', 'key', 'a key never pays twice', /`IDEMPOTENCY#/g, '`IDEMPOTENCY#v2'],
  ['another state of an answer', 'key', 'a kept answer is replayed', /"answered"/g, '"done"'],
  ['a changed key of usage records', 'limit', 'limits are exact', /`USAGE#/g, '`LEDGER#'],
  ['a changed key of tasks', 'notification', 'receive-notification answers 200', /TICKET#/g, 'TASK#'],
  ['a changed key of host nodes', 'version', 'no edit is lost', /`HOST_NODE#/g, '`ENTRY#'],
  ['another shard of archives', 'lost events', 'no extraction is lost', /"extract-"/g, '"extraction-"'],
  ['another shard of tasks', 'notification', 'every notification arrives', /"notify-"/g, '"send-"'],
  [
    'a renamed field',
    'lost events',
    'no extraction is lost',
    /(?<=body: \{ )key(?= \})|(?<=\{ )key(?=, early, R)/g,
    'archive: $&',
  ],
  ['another path', 'version', 'the index says what the table says', /\/host-nodes\./g, '/hosts.'],
  ['a ttl in milliseconds', 'key', 'records expire in time', /(?<=ttl: Math\.ceil\(.*\)) \/ 1e3/g, ''],
];

/** The last release and another one in turns, each of them first once. */
async function takeTurns(name: string, other: Actor): Promise<void> {
  await travel(name, (place) => (place % 2 === 0 ? actors.old : other));
  await travel(name, (place) => (place % 2 === 0 ? other : actors.old));
  const strange = await strangeExpiries(stage);
  hold('records expire in time', strange.length === 0, strange);
}

test.each(names)('both releases take turns: %s', async (name) => {
  await takeTurns(name, actors.new);
});

describe('a release that the last one does not understand', () => {
  test.each(incompatible)('is named by its change: %s', async (change, journey, rule, from, to) => {
    const code = String(today['release.js']).replaceAll(from, to);
    expect(code).not.toBe(today['release.js']);
    const place = await unpack(join(directory, change), { ...today, 'release.js': code });

    const turns = takeTurns(journey, new Actor(stage, running.changed, place));
    await expect(turns).rejects.toThrow(new RegExp(`^${rule}:`));
  });

  test.each([
    ['TextToVideoRole', 'IDEMPOTENCY#', 'key'],
    ['TextToVideoRole', 'ssm:GetParameter', 'key'],
    ['RelightImageRole', 'secretsmanager:GetSecretValue', 'limit'],
    ['DeliverNotificationsRole', 'secretsmanager:GetSecretValue', 'notification'],
    ['ReceiveNotificationRole', 'sqs:SendMessage', 'notification'],
    ['ExtractHostNodesRole', 'sqs:ReceiveMessage', 'lost events'],
    ['WriteIndexRole', 's3:PutObject', 'version'],
  ])('is named by a right that %s has lost: %s', async (role, lost, journey) => {
    const kept =
      ownStatements()
        .get(role)
        ?.filter((right) => !JSON.stringify(right).includes(lost)) ?? [];
    running.changed.statements = new Map([...ownStatements(), [role, kept]]);
    const place = await unpack(join(directory, `${role} ${lost}`), today);
    const turns = takeTurns(journey, new Actor(stage, running.changed, place));

    await expect(turns).rejects.toThrow(/^no right is missing:/);
    expect(kept.length).toBeLessThan(ownStatements().get(role)?.length ?? 0);
    running.changed.statements = undefined;
  });
});

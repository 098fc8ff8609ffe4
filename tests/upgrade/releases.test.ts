import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Actor } from './actor.ts';
import { moveClock } from '../support/moved-clock.ts';
import { sources } from './events.ts';
import { journeys, marksOf } from './journeys.ts';
import { bundlesOfTree, type Recording, readRecording, restoreStores } from './recording.ts';
import { requireSettled } from './settled.ts';
import { type Stage, startStage } from './stage.ts';
import { check, runsOf } from 'testing/property-runs';
import { harmless, harmlessRight, incompatible } from './changes.ts';
import { type Mixture, mix, mixtures, Releases, type Side, stepsOf, travel } from './mixture.ts';
import { recorded } from './recorded.ts';
import { ownStatements, type Statement, type Statements, statementsOf } from '../support/rights.ts';
import { type Gate, startGate } from './role-gate.ts';

/*
 * The recorded bundles of the last release next to today's, with one harmless change of each kind, on one table. A
 * journey's steps say what must hold, and any of them may be made by either, always with the rights of the other: roles
 * change before or after the code. All clocks are moved to the day of the recording.
 */

const isLong = runsOf(1) >= 100;
const names = Object.keys(journeys);
const releases = new Releases();

let recording: Recording;
let clockOffset: number;
let stage: Stage;
let today: Record<string, string>;
let actors: Record<Side, Actor>;
let states: Recording['journeys'];
let gates: Gate[];

beforeAll(async () => {
  [recording, today] = await Promise.all([readRecording(recorded), bundlesOfTree()]);
  clockOffset = Date.parse(recording.recordedAt) - Date.now();
  moveClock(clockOffset);
  stage = await startStage(recording.key);
  states = await restoreStores(stage, recording);
  const before = statementsOf(recording.templates.full);
  gates = [
    await startGate(
      stage,
      withRights(ownStatements(), 'PublishNodeVersionRole', (own) => [...own, harmlessRight]),
    ),
    await startGate(
      stage,
      withRights(before, 'GradeNodesRole', () => before.get('BulkNodeVersionsRole') ?? []),
    ),
  ];
  actors = {
    old: await releases.start('old', stage, recording.bundles, clockOffset, gates[0]?.environment),
    new: await releases.start('new', stage, harmless(today), clockOffset, gates[1]?.environment),
  };
  stage.newest = actors.new;
});

beforeEach(() => stage.simulators.simulation.reset());

afterAll(async () => {
  await releases.stop();
  await Promise.all(gates.map((gate) => gate.stop()));
  await stage.stop();
});

function withRights(
  statements: Statements,
  role: string,
  change: (own: readonly Statement[]) => readonly Statement[],
): Statements {
  return new Map([...statements, [role, change(statements.get(role) ?? [])]]);
}

/** In the gate, the state in the middle of a journey. */
function isTried(name: string, steps: number): boolean {
  return isLong || steps === Math.ceil(stepsOf(name).length / 2);
}

describe("today's code", () => {
  test.each(names)('continues where the recorded release left %s', async (name) => {
    const mine = states.filter(({ name: each, steps }) => each === name && isTried(name, steps));

    expect(mine.length).toBeGreaterThan(0);
    for (const { steps, state } of mine) await travel(name, () => actors.new, steps, state);
  });

  test('reads the recorded table with a function that the recorded release lacks', async () => {
    const node_versions = states.flatMap(({ state }) =>
      state.node === undefined ? [] : [{ node_id: state.node, version: '1.0.0' }],
    );
    const { status, body } = await actors.new.send(
      'bulk-node-versions',
      { body: { node_versions } },
      'grade-nodes',
    );

    expect(status).toBe(200);
    expect(body.node_versions.filter(({ node_version }) => node_version).length).toBeGreaterThan(10);
  });
});

describe('the recorded release', () => {
  test.each(names)("continues where today's code left %s", async (name) => {
    const cuts = stepsOf(name).flatMap((_, place) => (place > 0 && isTried(name, place) ? [place] : []));
    for (const cut of cuts) await travel(name, (place) => (place < cut ? actors.new : actors.old));
  });
});

describe('both releases', () => {
  test('serve one table at the same time, in any mixture', async () => {
    await check<Mixture>(
      mixtures,
      async (mixture) => {
        stage.simulators.simulation.reset();
        await mix(mixture, actors);
      },
      { weight: 0.5 },
    );
    const ways = Object.keys(sources).flatMap((source) => [`${source}: old > new`, `${source}: new > old`]);
    // A few mixtures may not meet all of them: it depends on when events come.
    if (isLong) expect(ways.filter((way) => !stage.events.ways.has(way))).toEqual([]);
  });
});

describe('a release that the recorded one does not understand', () => {
  test.each(incompatible)('names the change: $change', async ({ journey, step, rule, plant }) => {
    const changed = await releases.start('changed', stage, plant(today), clockOffset);
    const way = travel(journey, (place) => (place < step ? actors.old : changed)).then(async (state) => {
      await stage.events.settle(() => changed, { marks: marksOf(state) });
      await requireSettled(changed, state);
    });

    await expect(way).rejects.toThrow(new RegExp(`^${rule}:`));
  });

  test('names a dropped right', async () => {
    const rights = withRights(ownStatements(), 'TextToVideoRole', (own) =>
      own.filter((right) => !JSON.stringify(right).includes('IDEMPOTENCY#')),
    );
    const gate = await startGate(stage, rights);
    const actor = await releases.start('old', stage, recording.bundles, clockOffset, gate.environment);
    const failure = await travel('a paid key', () => actor).catch((error: Error) => error.message);
    await gate.stop();

    expect(failure).toMatch(/^(?:no 5xx|a paid call is answered):/);
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc } from '../support/properties.ts';
import { Actor } from '../../tools/upgrade/actor.ts';
import { journeys, type State, type Step } from '../../tools/upgrade/journeys.ts';
import { type Recording, writeBundles } from '../../tools/upgrade/recording.ts';
import { type RunningRelease, runRelease } from '../../tools/upgrade/release.ts';
import type { Stage } from '../../tools/upgrade/stage.ts';

export type Side = 'old' | 'new';

/** Starts releases on stages, and ends them with the tests. */
export class Releases {
  readonly #folder = mkdtemp(join(tmpdir(), 'node-registry-releases-'));
  readonly #running: RunningRelease[] = [];
  #count = 0;

  async start(
    stage: Stage,
    bundles: Recording['bundles'],
    clockOffset: number,
    environment: Record<string, string> = {},
  ): Promise<Actor> {
    this.#count += 1;
    const folder = await writeBundles(join(await this.#folder, String(this.#count)), bundles);
    const running = runRelease(
      String(this.#count),
      folder,
      { ...stage.environment, ...environment },
      clockOffset,
    );
    this.#running.push(running);
    return new Actor(stage, running);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map((running) => running.stop()));
    await rm(await this.#folder, { recursive: true, force: true });
  }
}

export function stepsOf(name: string): readonly Step[] {
  return journeys[name] ?? [];
}

/** Makes the steps of a journey from one on, each by the release that `choose` names. */
export async function travel(
  name: string,
  choose: (place: number) => Actor,
  from = 0,
  state: State = {},
): Promise<void> {
  for (const [place, { run }] of stepsOf(name).entries()) if (place >= from) await run(choose(place), state);
}

interface Traveler {
  journey: string;
  /** Who makes each of its steps. */
  sides: Side[];
}

export interface Mixture {
  travelers: Traveler[];
  /** Whose turn it is, and whether two go at the same time. */
  turns: { next: number; isTogether: boolean }[];
}

const side = fc.constantFrom<Side>('old', 'new');

/** Several journeys at once, their steps in any order and each made by any of two releases. */
export const mixtures: fc.Arbitrary<Mixture> = fc.record({
  travelers: fc.array(
    fc.record({
      journey: fc.constantFrom(...Object.keys(journeys)),
      sides: fc.array(side, { minLength: 12, maxLength: 12 }),
    }),
    { minLength: 2, maxLength: 4 },
  ),
  turns: fc.array(fc.record({ next: fc.nat(11), isTogether: fc.boolean() }), {
    minLength: 40,
    maxLength: 40,
  }),
});

export async function mix({ travelers, turns }: Mixture, actors: Record<Side, Actor>): Promise<void> {
  const left = travelers.map(({ journey, sides }) => {
    const state: State = {};
    const work = stepsOf(journey).map((step, place) => ({
      isAlone: step.isAlone,
      run: () =>
        step.run(actors[sides[place] ?? 'new'], state).catch((error: Error) => {
          throw new Error(`${error.message}\n${journey}, step ${place} by ${sides[place]}`, { cause: error });
        }),
    }));
    return work;
  });
  for (let turn = 0; left.some((work) => work.length > 0); turn += 1) {
    const { next, isTogether } = turns[turn % turns.length] ?? { next: 0, isTogether: false };
    const waiting = left.filter((work) => work.length > 0);
    const first = waiting[next % waiting.length];
    const second = waiting[(next + 1) % waiting.length];
    const pair = isTogether && first !== second ? [first, second] : [first];
    const steps = pair.some((work) => work?.[0]?.isAlone)
      ? [first?.shift()]
      : pair.map((work) => work?.shift());
    const results = await Promise.allSettled(steps.map((step) => step?.run()));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc } from 'testing/properties';
import { Actor } from './actor.ts';
import { type Source, sources } from './events.ts';
import { journeys, marksOf, type State, type Step } from './journeys.ts';
import type { FunctionProcess } from '../support/function-process.ts';
import { type Recording, startRelease, writeBundles } from './recording.ts';
import { requireSettled } from './settled.ts';
import type { Stage } from './stage.ts';

export type Side = 'old' | 'new';

/** Starts releases on stages, and ends them with the tests. */
export class Releases {
  readonly #folder = mkdtemp(join(tmpdir(), 'node-registry-releases-'));
  readonly #running: FunctionProcess[] = [];
  #count = 0;

  async start(
    name: string,
    stage: Stage,
    bundles: Recording['bundles'],
    clockOffset: number,
    environment: Record<string, string> = {},
  ): Promise<Actor> {
    this.#count += 1;
    const folder = await writeBundles(join(await this.#folder, String(this.#count)), bundles);
    const running = startRelease(name, folder, { ...stage.environment, ...environment }, clockOffset);
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
): Promise<State> {
  for (const [place, { run }] of stepsOf(name).entries()) if (place >= from) await run(choose(place), state);
  return state;
}

interface Traveler {
  journey: string;
  /** Who makes each of its steps. */
  sides: Side[];
}

interface Turn {
  /** Whose turn it is, and whether two go at the same time. */
  next: number;
  isTogether: boolean;
  /** The events that are handled meanwhile, or before a step that must be alone, and by whom. */
  source: Source;
  side: Side;
}

export interface Mixture {
  travelers: Traveler[];
  turns: Turn[];
}

const side = fc.constantFrom<Side>('old', 'new');

/**
 * Several journeys at once, their steps in any order and each made by any of two releases, as each event that they cause is
 * handled by any.
 */
export const mixtures: fc.Arbitrary<Mixture> = fc.record({
  travelers: fc.array(
    fc.record({
      journey: fc.constantFrom(...Object.keys(journeys)),
      sides: fc.array(side, { minLength: 12, maxLength: 12 }),
    }),
    { minLength: 2, maxLength: 4 },
  ),
  turns: fc.array(
    fc.record({
      next: fc.nat(11),
      isTogether: fc.boolean(),
      source: fc.constantFrom(...(Object.keys(sources) as Source[])),
      side,
    }),
    { minLength: 40, maxLength: 40 },
  ),
});

export async function mix({ travelers, turns }: Mixture, actors: Record<Side, Actor>): Promise<void> {
  const { events } = actors.new.stage;
  const states = travelers.map((): State => ({}));
  const left = travelers.map(({ journey, sides }, traveler) =>
    stepsOf(journey).map((step, place) => ({
      isAlone: step.isAlone,
      run: () =>
        step.run(actors[sides[place] ?? 'new'], states[traveler] ?? {}).catch((error: Error) => {
          throw new Error(`${error.message}\n${journey}, step ${place} by ${sides[place]}`, { cause: error });
        }),
    })),
  );
  let turn = 0;
  const take = () => {
    turn += 1;
    return turns[turn % turns.length] as Turn;
  };
  // A sweep finds what waits in the recorded table, too.
  const marks = () => states.flatMap(marksOf);
  while (left.some((work) => work.length > 0)) {
    const { next, isTogether, source, side } = take();
    const waiting = left.filter((work) => work.length > 0);
    const first = waiting[next % waiting.length];
    const second = waiting[(next + 1) % waiting.length];
    const pair = isTogether && first !== second ? [first, second] : [first];
    const isAlone = pair.some((work) => work?.[0]?.isAlone);
    const steps = isAlone ? [first?.shift()] : pair.map((work) => work?.shift());
    const handling = events.handle(() => actors[side], { source, marks: marks() });
    if (isAlone) await handling;
    const results = await Promise.allSettled([handling, ...steps.map((step) => step?.run())]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
  const choose = () => actors[take().side];
  await events.settle(choose, { marks: marks() });
  // An archive that a ban stopped and that comes again makes no second event. The sweep finds its version.
  await choose().schedule('extract-host-nodes', 10);
  await events.settle(choose, { marks: marks() });
  for (const [place, state] of states.entries())
    if (state.node !== undefined) await requireSettled(actors[turns[place]?.side ?? 'new'], state);
}

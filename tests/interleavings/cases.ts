import { describe, expect, test } from '@jest/globals';
import { runsOf } from '@node-registry/testing/property-runs';
import { inParallel } from '../../lib/in-parallel.ts';
import { closeWorld, inWorld, memo, openWorld, type World } from './worlds.ts';
import type { Ending, Past, Work } from './works.ts';
import { planOf, underPlan } from '../support/wire-faults.ts';

// Each command that runs waits for a signal.
process.setMaxListeners(0);

/**
 * One interleaving of two works: `meet`, the second runs before a call of the first to the stores; `stop`, the first is
 * killed before the call, then the second runs; `lose`, the call is carried out, the second runs, and the first never
 * hears of its answer; `last`, the second runs before a call, after which the first is killed.
 */
interface Case {
  first: string;
  second: string;
  fault: (typeof faults)[number];
  /** The number of the call, counted from 1. */
  call: number;
}

const faults = ['meet', 'stop', 'lose', 'last'] as const;
const kinds = { meet: 'meet', stop: 'stop', lose: 'drop after', last: 'meet' } as const;

function nameOf({ first, second, fault, call }: Case): string {
  return [first, second, fault, call].join(' | ');
}

function caseOf(name: string): Case {
  const [first = '', second = '', fault = '', call] = name.split(' | ');
  return { first, second, fault: fault as Case['fault'], call: Number(call) };
}

/** Works that share their stores, and what must hold of them. */
export interface Room {
  works: Record<string, Work>;
  /** The world in which these have happened. */
  worldAfter: (...past: Past[]) => Promise<World>;
  /** What follows the second work at once. */
  followUp?: (names: readonly string[]) => Promise<unknown>;
  /** Does what the works have left to do, and says what is wrong then: a sentence for each broken invariant. */
  problems: (names: readonly string[], endings: readonly Ending[]) => Promise<string[]>;
  /** Pairs in which a case has failed before, or has met a planted fault: the gate has all writes. */
  pairs: readonly string[];
  /** Cases beside these that have failed before: the gate has them too. */
  cases?: readonly string[];
}

const maxRepeats = 5;

const isRepeated = ({ by, isDecision }: Work) => by !== 'client' && !isDecision;

/** Runs a work as whoever calls it does. */
async function runAsCalled(work: Work, id: string): Promise<Ending> {
  const { run } = work;
  let ending = await run(id);
  for (let repeat = 1; !ending.isDone && isRepeated(work) && repeat <= maxRepeats; repeat += 1)
    ending = await run(id);
  return ending;
}

interface Outcome {
  problems: string[];
  /** The commands of the first work. */
  commands: string[];
}

async function runCase(room: Room, given: Case): Promise<Outcome> {
  const { works, worldAfter, followUp, problems } = room;
  const names = [given.first, given.second];
  const [first, second] = [works[given.first], works[given.second]];
  if (!first || !second) throw new Error(`There is no such case: ${nameOf(given)}`);
  const past = new Set([first.after ?? [], second.after ?? []].flat());
  const world = await openWorld(await worldAfter(...past));
  return inWorld(world, async () => {
    const endings: Ending[] = [];
    const meanwhile = async () => {
      const work = async () => {
        endings.push(await runAsCalled(second, 'second'));
        await followUp?.(names);
      };
      await inWorld(world, () => underPlan(undefined, work));
    };
    const strike = { at: given.call, kind: kinds[given.fault], lasts: false, meanwhile };
    const end = { at: given.call + 1, kind: 'stop', lasts: false } as const;
    const plan = planOf(given.fault === 'last' ? [strike, end] : [strike]);
    const work = underPlan(plan, () => first.run('first'));
    const killed = plan.stopped.promise.then((): Ending => ({ isDone: false }));
    const ending = await Promise.race([work, killed]);
    if (given.fault === 'stop' && plan.struck.includes('stop')) await meanwhile();
    const isOver = ending.isDone || !isRepeated(first);
    endings.push(isOver ? ending : await runAsCalled(first, 'first'));
    const found = await problems(names, endings);
    // Only a store that fails may make an answer fail.
    const failed = endings.filter(({ status = 200 }) => status >= 500 && given.fault === 'meet');
    plan.ended.resolve();
    await work.catch(() => undefined);
    closeWorld(world);
    const answers = failed.map(({ status }) => `an answer has the status ${status}`);
    return { problems: [...found, ...answers], commands: plan.commands };
  });
}

const isWrite = /^(?:Put|Update|Delete|Transact|Copy)/;

const isLong = runsOf(1) > 10;

/** Cases mostly wait for the stores. */
const casesAtOnce = 8;

/** The cases whose names begin so; a failed test prints the whole name. */
const only = process.env.INTERLEAVING;

/** So many others meet a work in the gate, whose time would grow with the square of the works. */
const maxMet = 5;

/**
 * The long run, or a chosen pair, has every fault at every call. The gate has each work killed at each write, meeting
 * itself once, once with a lost answer, and meeting some of the others, each at one write: they come at its writes in turn.
 */
function casesOf(room: Room, first: string, commands: readonly string[]): Case[] {
  const all = commands.map((_, place) => place + 1);
  const writes = all.filter((call) => isWrite.test(String(commands[call - 1])));
  const names = Object.keys(room.works);
  const callsWith = (second: string, fault: Case['fault']) => {
    if (isLong || only !== undefined) return all;
    if (fault === 'last') return [];
    const isNamed = room.pairs.includes(`${first} | ${second}`);
    if (!isNamed && room.works[first]?.isRare) return [];
    if (second === first) {
      // Killed before its first write, it has done nothing.
      if (fault === 'stop') return writes.slice(1);
      if (isNamed) return writes;
      return fault === 'meet' ? writes.slice(0, 1) : writes.slice(-1);
    }
    if (fault !== 'meet') return [];
    if (isNamed) return writes;
    const ahead = (names.indexOf(second) - names.indexOf(first) + names.length) % names.length;
    const step = Math.ceil(names.length / 2 / maxMet);
    const isMet = ahead <= names.length / 2 && ahead % step === 0;
    return isMet ? writes.filter((_, turn) => turn === (ahead / step) % writes.length) : [];
  };
  const named = (room.cases ?? []).filter((name) => name.startsWith(`${first} | `)).map(caseOf);
  return names
    .flatMap((second) =>
      faults.flatMap((fault) => callsWith(second, fault).map((call) => ({ first, second, fault, call }))),
    )
    .concat(isLong || only !== undefined ? [] : named)
    .filter((each) => nameOf(each).startsWith(only ?? ''));
}

/** Of all works first, or of a part of them: another test file has the others. */
export function describeInterleavings(given: Room, isFirst: (work: Work) => boolean = () => true): void {
  const room = { ...given, worldAfter: memo(given.worldAfter) };
  const works = Object.entries(room.works).filter(([, work]) => isFirst(work));
  const names = works.map(([name]) => name).filter((name) => (only ?? name).startsWith(name));

  describe.each(names)('%s', (first) => {
    test('breaks no invariant amid any other work', async () => {
      const alone = await runCase(room, { first, second: first, fault: 'meet', call: 0 });
      const cases = casesOf(room, first, alone.commands);
      const found = alone.problems.map((problem) => `${first}, alone: ${problem}`);
      await inParallel(cases.values(), casesAtOnce, async (each) => {
        const name = nameOf(each);
        const { problems } = await runCase(room, each).catch((error: Error) => ({ problems: [error.stack] }));
        if (problems.length > 0)
          found.push(`${problems.join('; ')}\n  INTERLEAVING='${name}' npx jest tests/interleavings`);
      });

      expect(found).toEqual([]);
    });
  });
}

import fc from 'fast-check';
import { seed } from '../local/seed.ts';
import { type HuntOptions, Tally } from './hunt.ts';
import { RegistryModel } from './model.ts';
import { commandArbitraries, type Real } from './model-commands.ts';
import { huntRaces } from './races.ts';
import { RegistryWorld } from './registry-world.ts';

const runs = { short: 60, usual: 1000, long: 3000 };
const mostCommands = 25;

/** Random stories against the real handlers and a model of them, and callers who meet in the middle of one. */
export async function huntModel({ arena, random, length }: HuntOptions): Promise<Tally> {
  const tally = new Tally();
  await seed();
  const world = new RegistryWorld(arena);
  let run = 0;
  const prefix = `model-${random.below(1_000_000)}`;
  const story = fc.asyncProperty(
    fc.commands(commandArbitraries, { maxCommands: mostCommands }),
    async (commands) => {
      run += 1;
      const number = run;
      const nodeId = (name: string) => `${prefix}-${number}-${name}`;
      const real: Real = { world, nodeId, count: (what) => tally.count(what) };
      const model = new RegistryModel();
      await fc.asyncModelRun(() => ({ model, real }), commands);
      await model.compare(world);
    },
  );
  const settings = { numRuns: runs[length], seed: random.below(2 ** 30) };
  const result = await fc.check(story, settings);
  tally.count('stories', result.numRuns);
  if (result.failed)
    tally.violate(
      'the registry does other than the model',
      String(result.counterexample),
      result.errorInstance,
    );
  await huntRaces({ world, random, length }, tally);
  return tally;
}

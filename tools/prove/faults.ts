import { seed } from '../local/seed.ts';
import { readAnswerCheck } from './answer-check.ts';
import type { ArenaAnswer } from './arena.ts';
import { type StoryScene, stories } from './fault-stories.ts';
import { type HuntOptions, Tally } from './hunt.ts';
import { listenToLog } from './listen-to-log.ts';
import { huntPaidFaults } from './paid-faults.ts';
import { RegistryWorld } from './registry-world.ts';
import { SeededRandom } from './seeded-random.ts';
import { type FaultPlan, injectFaults } from './wire-faults.ts';

const runs = { short: 15, usual: 1000, long: 3000 };
const atOnce = 8;

/**
 * Whatever fails between the functions and what they depend on: nothing is written by half, nothing that was
 * answered as done is lost, nothing is paid for twice, nothing gets stuck, and no secret gets out.
 */
export async function huntFaults({ arena, random, length }: HuntOptions): Promise<Tally> {
  const tally = new Tally();
  await seed();
  const routes = new Map(arena.names.map((name) => [name, String(arena.sample(name).routeKey)]));
  const check = await readAnswerCheck(routes);
  const log = listenToLog();
  const faults = await injectFaults();
  const hear = (operation: string, answer: ArenaAnswer, plan: FaultPlan) => {
    tally.count(`answers ${answer.status} ${answer.body.error ?? ''}`.trim());
    for (const fault of plan.struck) tally.count(`faults: ${fault}`);
    const wrong = check.faultsOf(operation, answer);
    if (wrong.length > 0) tally.violate('an answer unlike the document', operation, wrong, answer.text);
    // Only what nobody can read may be answered as a fault that is unknown.
    if (answer.status === 500 && !plan.struck.includes('garbage'))
      tally.violate('a fault of a store became a 500', operation, plan.struck, log.lines.at(-1));
    for (const secret of log.secrets)
      if (answer.text.includes(secret)) tally.violate('an answer shows a secret', operation);
  };
  try {
    const world = new RegistryWorld(arena);
    const first = random.below(1_000_000);
    for (const name of Object.keys(stories)) {
      await tellMany(
        name,
        runs[length],
        (run) => {
          const nodeId = `faults-${name.replaceAll(' ', '-')}-${first + run}`;
          return { world, nodeId, random: new SeededRandom(first + run), hear };
        },
        tally,
      );
    }
    await huntPaidFaults({ arena, random, length }, hear, tally);
  } finally {
    faults.stop();
    log.stop();
  }
  tally.count('log lines without a secret', log.count);
  for (const line of log.leaks) tally.violate('the log shows a secret', line);
  return tally;
}

async function tellMany(
  name: string,
  count: number,
  setScene: (run: number) => StoryScene,
  tally: Tally,
): Promise<void> {
  let run = 0;
  const teller = async () => {
    while (run < count) {
      run += 1;
      const scene = setScene(run);
      const fault = await stories[name]?.(scene);
      tally.count(`stories: ${name}`);
      if (fault !== undefined) tally.violate(fault, scene.nodeId);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, teller));
}

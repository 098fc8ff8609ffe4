import fc from 'fast-check';
import { type CheckOptions, CheckRun } from './check.ts';
import { seed } from './fixtures.ts';
import { RegistryModel } from './model.ts';
import { commandArbitraries, type Real } from './model-commands.ts';
import { Registry } from './registry.ts';
import type { Report } from './report.ts';

const runs = { short: 40, usual: 1000, long: 3000 };
const maxCommands = 25;

/** Runs random sequences of commands against the real handlers and a model: answers and final states must be equal. */
export async function checkModel(options: CheckOptions): Promise<Report> {
  const run = new CheckRun(options);
  await seed();
  const registry = new Registry(options.harness);
  let number = 0;
  await run.property({
    name: 'model/commands',
    runs: runs[options.length],
    values: fc.commands(commandArbitraries, { maxCommands, size: 'max', ...run.replayPath }),
    holds: async (commands) => {
      number += 1;
      const prefix = `model-${number}`;
      const nodeId = (name: string) => `${prefix}-${name}`;
      const real: Real = { registry, nodeId, count: (what) => run.report.count(what) };
      const model = new RegistryModel();
      await fc.asyncModelRun(() => ({ model, real }), commands);
      await model.compare(registry);
    },
  });
  return run.report;
}

import { expect, test } from '@jest/globals';
import { seed } from '../support/access-fixtures.ts';
import { fc } from 'testing/properties';
import { check, counts } from 'testing/property-runs';
import { commandArbitraries } from '../support/registry-commands.ts';
import { RegistryModel } from '../support/registry-model.ts';

const maxCommands = 25;

test('does the same as its model, in random orders of operations', async () => {
  await seed();
  let number = 0;
  await check(
    fc.commands(commandArbitraries, {
      maxCommands,
      size: 'max',
      // Part of what a failure reports: which of the commands were run.
      ...(process.env.PROPERTY_REPLAY && { replayPath: process.env.PROPERTY_REPLAY }),
    }),
    async (commands) => {
      number += 1;
      const prefix = `model-${number}`;
      const model = new RegistryModel();
      const real = { nodeId: (name: string) => `${prefix}-${name}` };
      await fc.asyncModelRun(() => ({ model, real }), commands);
      await model.compare();
    },
    { weight: 1.5 },
  );

  expect(counts['commands: publish']).toBeGreaterThan(0);
  expect(counts['commands: finalize']).toBeGreaterThan(0);
});

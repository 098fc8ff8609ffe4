// npm run mutate -- FILE...
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createCommand, runCommand } from '../../packages/command-line/command.ts';

const command = createCommand({
  name: 'npm run mutate --',
  summary:
    'Tests the tests: makes one small change to a file at a time, and checks whether a related test fails',
  notes:
    'Exits with 1 if fewer than 80 % of the changes are noticed. docs/quality.md says which ones may go unnoticed, and why.',
  examples: ['lib/http/json-body.ts', "'lib/auth/*.ts' lib/spend/accounts.ts:10-40"],
})
  .argument('<files...>', 'files or patterns, with line numbers if only a part of a file matters')
  .action(async (mutate: string[]) => {
    // What only this needs, from a lock file of its own.
    execFileSync('npm', ['ci'], { cwd: 'tools/mutate' });
    const { Stryker } = await import('@stryker-mutator/core');
    const options = JSON.parse(readFileSync('tools/mutate/stryker.json', 'utf8'));
    await new Stryker({ ...options, mutate }).runMutationTest();
  });

const status = await runCommand(command, process.argv.slice(2));
process.exitCode ||= status;

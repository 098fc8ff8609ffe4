// npm run mutate -- FILE...
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createCommand, runProgram } from '@node-registry/command-line/command';

const command = createCommand({
  name: 'npm run mutate --',
  summary:
    'Tests the tests: makes one small change to a file at a time, and checks whether a related test fails',
  notes: 'Exits with 1 if fewer than 80 % of the changes are noticed.',
  examples: [
    'lib/http/read-request.ts',
    "'lib/auth/*.ts' lib/attempts/account.ts:10-40",
    "lib/work/worker.ts --tests 'tests/lib/work/*.test.ts'",
  ],
})
  .argument('<files...>', 'files or patterns, with line numbers if only a part of a file matters')
  .option(
    '--tests <files...>',
    'run these in place of all that import the file, several times as fast if they are the closest ones',
  )
  .action(async (mutate: string[], { tests }: { tests?: string[] }) => {
    // Packages that only this command needs, in exact versions.
    execFileSync('npm', ['install', '--no-package-lock'], { cwd: 'tools/mutate' });
    // Some tests start the built functions.
    execFileSync('npm', ['run', 'build', '--silent']);
    const { Stryker } = await import('@stryker-mutator/core');
    const options = JSON.parse(readFileSync('tools/mutate/stryker.json', 'utf8'));
    if (tests) {
      // Many import the functions that they start by name, so they are related to no file.
      options.jest.enableFindRelatedTests = false;
      options.jest.config.testMatch = tests.map((file) => `<rootDir>/${file}`);
    }
    await new Stryker({ ...options, mutate }).runMutationTest();
  });

await runProgram(command);

import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { runProgram } from '@node-registry/testing/run-program';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const tools = Object.entries<string>(scripts).flatMap(([name, script]) => {
  const args = /^node (-r \S+ \S+)/.exec(script)?.[1];
  return args === undefined ? [] : [[name, args.split(' ')] as const];
});

test.each(tools)('npm run %s explains itself instead of running, for --help', async (name, args) => {
  const { status, stdout, stderr } = await runProgram(process.execPath, [...args, '--help']);

  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(new RegExp(`^Usage: (?:npm (?:run )?)?${name} `));
});

// A required option that is misspelled is also missing. The Serverless Framework judges the options of a rehearsal.
test.each(tools.filter(([name]) => name !== 'rehearse'))(
  'npm run %s names an unknown option instead of running',
  async (_, args) => {
    const { status, stderr } = await runProgram(process.execPath, [...args, '--xyzzy']);

    expect([status, stderr]).toEqual([2, expect.stringMatching(/^(?:error: u|U)nknown option '--xyzzy'/)]);
  },
);

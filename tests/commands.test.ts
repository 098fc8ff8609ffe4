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

import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { runCommand } from '../../tools/command-line/command.ts';
import { checks } from '../../tools/stress/checks.ts';
import { type Choice, stressCommand } from '../../tools/stress/options.ts';

function stress(...args: string[]) {
  const options = { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } } as const;
  return spawnSync('node', ['tools/stress/stress.ts', ...args], options);
}

test('npm run stress -- --help names every check', () => {
  const { status, stdout } = stress('--help');

  expect(status).toBe(0);
  for (const [name, { about }] of Object.entries(checks))
    expect(stdout).toMatch(new RegExp(`${name} +${about.split(',')[0]}`));
});

test.each([
  [['--only', 'fuzz,snipe'], 'There is no check "snipe".'],
  [['--seed', 'x'], 'It takes a whole number from 0 to 999999999.'],
  [['--path', '3:0'], "Option '--path' needs --only with one CHECK/PROPERTY."],
  [['--wide'], "Unknown option '--wide'."],
])('npm run stress rejects %j in one sentence', (args, sentence) => {
  const { status, stderr } = stress(...args);

  expect(status).toBe(2);
  expect(stderr).toContain(`${sentence} See npm run stress -- --help\n`);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

test('npm run stress -- --only selects properties of their own check only', async () => {
  const choices: Choice[] = [];
  const parse = (only: string) =>
    runCommand(
      stressCommand(async (choice) => void choices.push(choice)),
      ['--only', only],
    );
  await parse('fuzz,races/publish,races/bans');
  await parse('races,races/publish');

  expect(choices.map(({ selected }) => selected)).toEqual([
    [
      { name: 'fuzz', properties: undefined },
      { name: 'races', properties: ['races/publish', 'races/bans'] },
    ],
    [{ name: 'races', properties: undefined }],
  ]);
});

test('npm run stress fails if a selected property never ran', () => {
  const { status, stderr } = stress('--short', '--only', 'faults/typo');

  expect(stderr).toContain('faults/typo never ran: is it misspelled?');
  expect(stderr).toContain('faults: FAILED');
  expect(status).toBe(1);
}, 60_000);

import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { hunts } from '../../tools/prove/hunts.ts';
import { areas } from '../../tools/mutate/areas.ts';

function run(script: string, ...args: string[]) {
  const options = { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } } as const;
  return spawnSync('npm', ['run', script, '--silent', '--', ...args], options);
}

test('npm run prove -- --help names every hunt', () => {
  const { status, stdout } = run('prove', '--help');

  expect(status).toBe(0);
  for (const [name, { about }] of Object.entries(hunts))
    expect(stdout).toMatch(new RegExp(`${name} +${about}`));
});

test.each([
  [['--only', 'fuzz,snipe'], 'There is no hunt "snipe". See npm run prove -- --help\n'],
  [['--seed', 'x'], '--seed takes a whole number. See npm run prove -- --help\n'],
  [['--wide'], "Unknown option '--wide'. See npm run prove -- --help\n"],
])('npm run prove refuses %j in one sentence', (args, sentence) => {
  expect(run('prove', ...args)).toMatchObject({ status: 2, stderr: sentence });
});

test('npm run mutate refuses an area that it does not know in one sentence', () => {
  const { status, stderr } = run('mutate', 'keys', 'luck');

  expect(status).toBe(2);
  expect(stderr).toMatch(
    /^Command-argument value 'luck' is invalid for argument 'areas'\. Allowed choices are .*keys.* See npm run mutate -- --help\n$/,
  );
});

test.each(Object.entries(areas))(
  'npm run mutate finds the files and the tests of %s',
  (_, { files, tests }) => {
    for (const pattern of [...files, ...tests.map((name) => `tests/${name}.test.ts`)])
      expect([pattern, globSync(pattern.replace('!', '')).length > 0]).toEqual([pattern, true]);
  },
);

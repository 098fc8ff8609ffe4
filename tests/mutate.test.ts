import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { areas } from '../tools/mutate/areas.ts';
import { scoreOf } from '../tools/mutate/score.ts';

test('npm run mutate rejects an unknown area in one sentence', () => {
  const options = { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } } as const;
  const { status, stderr } = spawnSync('node', ['tools/mutate/mutate.ts', 'keys', 'luck'], options);

  expect(status).toBe(2);
  expect(stderr).toMatch(/'luck' is invalid for argument 'areas'.* See npm run mutate -- --help\n$/);
});

test.each([
  [{ mutants: 4, killed: 3, timedOut: 1 }, 'keys: 3 of 4 mutants killed, 75.0 % (1 by running out of time)'],
  [{ mutants: 0, killed: 0, timedOut: 0 }, 'keys: no mutants'],
])('a score of %j is shown, and is too low for an area that needs 80 %%', (counts, line) => {
  const { problem, ...shown } = scoreOf('keys', counts, 80);

  expect(shown).toEqual({ line });
  expect(problem).toMatch(/^keys: (?:at least 80 % must be killed|nothing was changed and tested)\.$/);
});

test('a score that reaches the minimum has no problem', () => {
  expect(scoreOf('keys', { mutants: 5, killed: 4, timedOut: 0 }, 80).problem).toBeUndefined();
});

test.each(Object.entries(areas))(
  'every pattern of the mutation area %s finds files',
  (_, { files, tests }) => {
    const patterns = [...files, ...tests.map((name) => `tests/${name}.test.ts`)];
    // A pattern in braces stands for several files, each of which must be there.
    const names = patterns.flatMap((pattern) => {
      const [, before = '', choices, after = ''] = /^(.*)\{(.+)\}(.*)$/.exec(pattern) ?? [];
      return choices?.split(',').map((choice) => before + choice + after) ?? [pattern];
    });

    expect(names.filter((name) => globSync(name).length === 0)).toEqual([]);
  },
);

/** Declarations: the contracts are held by the OpenAPI document, and types have nothing to change. */
const declarations = /^lib\/(?:contract|caller|ci-job|bought-task|read-host-node|upload\.ts|video-rules)/;

test('every file of lib but its declarations belongs to one mutation area', () => {
  const mutated = Object.values(areas).flatMap(({ files }) => files.flatMap((pattern) => globSync(pattern)));
  const ours = globSync('lib/**/*.ts').filter((file) => !declarations.test(file));

  expect(mutated.filter((file) => file.startsWith('lib/')).toSorted()).toEqual(ours.toSorted());
});

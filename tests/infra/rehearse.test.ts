import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { flagsOf, requiredParameters } from '../../infra/plugins/packages.ts';
import { builtProject } from './packaging.ts';

function rehearse(args: readonly string[], cwd = '.') {
  const options = { cwd, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } } as const;
  return spawnSync('node', [resolve('infra/plugins/rehearse.ts'), ...args], options);
}

describe('npm run rehearse', () => {
  test('explains itself instead of packaging', () => {
    const { status, stdout } = rehearse(['--help']);

    expect(status).toBe(0);
    expect(stdout).toMatch(/^Usage: npm run rehearse -- \[options\]/);
    expect(stdout).not.toContain('resources');
  });

  test.each([
    [['--stag', 'prod'], "Unknown option '--stag'. Did you mean --stage?"],
    [['prod'], 'Too many arguments. Expected 0 arguments but got 1.'],
  ])('rejects %j in one sentence', (args, sentence) => {
    const { status, stderr, stdout } = rehearse(args);

    expect(stderr).toBe(`${sentence} See npm run rehearse -- --help\n`);
    expect([status, stdout]).toEqual([2, '']);
  });

  test('checks the stage that its options describe, and that one only', async () => {
    const project = await builtProject('rehearsed');
    const { status, stdout } = rehearse([...flagsOf(requiredParameters), '--region', 'eu-west-1'], project);

    expect(status).toBe(0);
    expect(stdout).toMatch(/^prod: \d+ resources, 0 errors/m);
    expect(stdout.match(/^\w+: \d+ resources/gm)).toHaveLength(1);
  });

  test('fails with the sentences of a stage that cannot be deployed', async () => {
    const { status, stdout } = rehearse(['--param', 'rateLimit=abc'], await builtProject('rejected'));

    expect(status).toBe(1);
    expect(stdout).toContain('prod: not packaged\n');
    expect(stdout).toContain('rateLimit: must be a whole number from 1 to 2500.\n');
  });
});

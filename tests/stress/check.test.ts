import assert from 'node:assert/strict';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type CheckOptions, CheckRun } from '../../tools/stress/check.ts';
import type { Harness } from '../../tools/stress/harness.ts';

const options: CheckOptions = { harness: {} as Harness, length: 'short', seed: 7 };

/** The value of `--path` in the command that a violation names. */
function pathIn(violation: string | undefined): string {
  return String(/--only \S+ --seed 7 --path (\S+)$/.exec(String(violation))?.[1]);
}

describe('a property of a stress check', () => {
  async function run(more: Partial<CheckOptions> = {}) {
    const tried: number[] = [];
    const check = new CheckRun({ ...options, ...more });
    await check.property({
      name: 'check/numbers',
      runs: 100,
      values: fc.nat(1_000_000),
      holds: async (value) => {
        tried.push(value);
        assert.ok(value < 5000, 'too large');
      },
    });
    return { tried, violations: check.report.violations };
  }

  test('is reported with the smallest failing value', async () => {
    const { violations } = await run();

    expect(violations).toEqual([
      expect.stringMatching(/^check\/numbers fails.* · too large · 5000 · npm run /),
    ]);
  });

  test('fails again with only that value under the reported path', async () => {
    const { violations } = await run();
    const again = await run({ properties: ['check/numbers'], path: pathIn(violations[0]) });

    expect(again.tried).toEqual([5000]);
    expect(again.violations).toHaveLength(1);
  });

  test('is not run when another one is selected', async () => {
    expect(await run({ properties: ['check/other'] })).toEqual({ tried: [], violations: [] });
  });
});

test('a sequence of commands of a stress check is shrunk, and can be replayed by the reported path', async () => {
  const run = async (more: Partial<CheckOptions> = {}) => {
    const ran: string[][] = [];
    const check = new CheckRun({ ...options, ...more });
    const command = (name: string) => ({
      check: () => true,
      run: async (_: object, real: string[]) => {
        real.push(name);
        assert.ok(real.filter((each) => each === 'add').length < 3, 'one too many');
      },
      toString: () => name,
    });
    await check.property({
      name: 'check/commands',
      runs: 100,
      values: fc.commands([fc.constant(command('add')), fc.constant(command('rest'))], {
        maxCommands: 20,
        ...check.replayPath,
      }),
      holds: async (commands) => {
        const real: string[] = [];
        ran.push(real);
        await fc.asyncModelRun(() => ({ model: {}, real }), commands);
      },
    });
    return { ran, violations: check.report.violations };
  };
  const { violations } = await run();
  const again = await run({ properties: ['check/commands'], path: pathIn(violations[0]) });

  expect(violations).toEqual([expect.stringContaining('one too many · add,add,add')]);
  expect(again.ran).toEqual([['add', 'add', 'add']]);
});

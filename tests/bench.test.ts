import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { amount, type Figure, quantile, ratio } from '../tools/bench/figures.ts';
import { Lambda } from '../tools/bench/lambda.ts';
import { compare, compareAndSave, grossRegressions, render } from '../tools/bench/report.ts';
import { buildFunctions } from '../infra/bundle/build.ts';
import { seed } from '../tools/local/seed.ts';
import { type Simulators, startSimulators } from '../tools/simulators/start-simulators.ts';
import { endpointNames } from './support/operation-names.ts';
import { sampleEvent } from './support/invoke.ts';
import { runProgram } from './support/run-program.ts';

/** What makes the functions start fast, checked without a clock. */

describe('after one invocation in a process of its own', () => {
  let simulators: Simulators;
  const lambda = new Lambda();

  beforeAll(async () => {
    [simulators] = await Promise.all([startSimulators(), seed(), buildFunctions()]);
  });

  afterAll(async () => {
    await Promise.all([simulators.stop(), lambda.stop()]);
  });

  test.each(endpointNames)('%s answers without the slow parts of Node', async (name) => {
    const { answer, modules } = await lambda.start({
      file: resolve('dist', name, 'index.js'),
      event: sampleEvent(name),
      environment: {
        ...process.env,
        NODE_OPTIONS: '',
        IMAGE_PROVIDER_URL: `${simulators.url}/image`,
        IMAGE_PROVIDER_KEY: 'local-image-key',
        VIDEO_PROVIDER_URL: `${simulators.url}/video`,
        VIDEO_PROVIDER_KEY: 'local-video-key',
      },
    });

    expect(answer).toMatchObject({ statusCode: name === 'publish-node-version' ? 201 : 200 });
    expect(modules).toContain('NativeModule http');
    expect(modules.filter((module) => /undici|webcrypto|fs\/promises/.test(module))).toEqual([]);
  });
});

describe('the bench', () => {
  const figure = (name: string, median: number, spread: number): Figure => ({
    name,
    unit: 'times',
    median,
    low: median - spread,
    high: median + spread,
  });
  const report = (...figures: Figure[]) => ({ date: '2026-11-20', machine: 'any', figures });

  test('divides round by round, so that a slow round does not change the ratio', () => {
    expect(ratio('cold', [20, 200, 22], [10, 100, 10])).toMatchObject({ median: 2, low: 2 });
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  });

  test('reports only what moved by more than the noise', () => {
    const before = report(figure('a', 2, 0.1), figure('b', 2, 0.1), figure('c', 2, 0.1));
    const after = report(
      figure('a', 2.5, 0.1),
      figure('b', 2.1, 0.1),
      figure('c', 1.5, 0.1),
      figure('d', 1, 0),
    );

    expect(compare(before, after)).toEqual([
      'a is worse: 2.00 -> 2.50',
      'c is better: 2.00 -> 1.50',
      'd is new: 1.00',
    ]);
  });

  test('compares a report with the baseline that it replaces', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'node-registry-bench-'));
    const file = join(folder, 'baseline.json');
    await writeFile(file, JSON.stringify(report(figure('cold: a', 2, 0))));
    const after = report(figure('cold: a', 3, 0));
    const moved = await compareAndSave(after, { isCompared: true, isSaved: true }, file);
    const saved = JSON.parse(await readFile(file, 'utf8'));
    await rm(folder, { recursive: true });

    expect(moved).toEqual(['cold: a is worse: 2.00 -> 3.00']);
    expect(saved).toEqual(after);
  });

  test('never replaces the baseline by the few figures of --short', async () => {
    const { status, stderr } = await runProgram(process.execPath, [
      'tools/bench/bench.ts',
      '--short',
      '--save',
    ]);

    expect(status).toBe(2);
    expect(stderr).toMatch(/^Option '--short' cannot be used with option '--save'\./);
  });

  test('counts more answers a second as better, and more megabytes as worse', () => {
    const before = report(amount('answers', 'a second', 200), amount('memory', 'MB', 400));
    const after = report(amount('answers', 'a second', 300), amount('memory', 'MB', 500));

    expect(compare(before, after)).toEqual([
      'answers is better: 200 a second -> 300 a second',
      'memory is worse: 400 MB -> 500 MB',
    ]);
  });

  test('fails for much more computing or a little more to load, which noise cannot explain', () => {
    const before = report(
      figure('cold: x', 2, 0),
      figure('cold cpu: x', 2, 0),
      figure('cold cpu: noisy', 2, 0),
      figure('first load: x', 40, 0),
    );
    const after = report(
      figure('cold: x', 4, 0),
      figure('cold cpu: x', 3.1, 0),
      figure('cold cpu: noisy', 3.1, 0.2),
      figure('first load: x', 43, 0),
    );

    expect(grossRegressions(before, after).map(({ text }) => text)).toEqual([
      'cold cpu: x: 2.00 -> 3.10',
      'first load: x: 40.00 -> 43.00',
    ]);
  });

  test('marks goals that are not reached in its table', () => {
    const lines = render(
      report({ ...figure('a', 3, 0.1), reach: 2 }, { ...figure('b', 1, 0.1), reach: 2 }),
    ).split('\n');

    expect(lines.find((line) => line.startsWith('a'))).toContain('not reached');
    expect(lines.find((line) => line.startsWith('b'))).not.toContain('not reached');
  });
});

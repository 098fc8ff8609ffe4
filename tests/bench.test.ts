import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { quantile, ratio } from '../tools/bench/figures.ts';
import { Lambda } from '../tools/bench/lambda.ts';
import { render } from '../tools/bench/report.ts';
import { measureSizes } from '../tools/bench/sizes.ts';
import { buildFunctions } from '../infra/bundle/build.ts';
import { seed } from '../tools/local/seed.ts';
import { type Simulators, startSimulators } from '../tools/simulators/start-simulators.ts';
import { endpointNames } from './support/operation-names.ts';
import { sampleEvent } from './support/invoke.ts';

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

test('no endpoint loads more than 105 KB, compressed, before it answers, and the finalizer 155 KB', async () => {
  const sizes = (await measureSizes()).map(({ name, median }) => [name, Math.round(median)] as const);

  const maxOf = (name: string) => (name.endsWith('finalize-upload') ? 155 : 105);

  expect(sizes.filter(([name, kilobytes]) => kilobytes > maxOf(name))).toEqual([]);
});

describe('the bench', () => {
  test('divides round by round, so that a slow round does not change the ratio', () => {
    expect(ratio('cold', [20, 200, 22], [10, 100, 10])).toMatchObject({ median: 2, low: 2 });
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  });

  test('marks goals that are not reached in its table', () => {
    const figure = (name: string, median: number) => ratio(name, [median], [1], { reach: 2 });
    const lines = render([figure('a', 3), figure('b', 1)]).split('\n');

    expect(lines.find((line) => line.startsWith('a'))).toContain('not reached');
    expect(lines.find((line) => line.startsWith('b'))).not.toContain('not reached');
  });
});

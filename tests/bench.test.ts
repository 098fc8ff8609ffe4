import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Lambda } from '../tools/bench/lambda.ts';
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
    const compresses = ['bulk-node-versions', 'publish-node-version'].includes(name);
    const slow = [
      'undici',
      'fs/promises',
      'webcrypto',
      'webstreams',
      'blocklist',
      ...(compresses ? [] : ['zlib']),
    ];
    expect(modules.filter((module) => slow.some((part) => module.includes(part)))).toEqual([]);
  });
});

test('no endpoint loads more than 105 KB, compressed, before it answers, and the finalizer 155 KB', async () => {
  const sizes = (await measureSizes()).map(({ name, median }) => [name, Math.round(median)] as const);

  const maxOf = (name: string) => (name.endsWith('finalize-upload') ? 155 : 105);

  expect(sizes.filter(([name, kilobytes]) => kilobytes > maxOf(name))).toEqual([]);
});

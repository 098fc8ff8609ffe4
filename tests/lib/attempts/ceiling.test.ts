import { describe, expect, test } from '@jest/globals';
import { loadPaidContracts } from '../../../infra/operations.ts';
import { configure } from '../../../lib/config.ts';
import type { RateRow } from '../../../lib/variable-kinds.ts';
import { bodySchema } from '../../../lib/contract.ts';
import { fc } from '@node-registry/testing/properties';
import { check } from '@node-registry/testing/property-runs';
import { pricedTask } from '../../../lib/attempts/price.ts';

const paid = await loadPaidContracts();

const image = 'https://example.com/a.png';
const requiredOf: Record<string, object> = {
  relightImage: { image },
  multiframeVideo: { model: 'vidq2-pro', start_image: image, image_settings: [{}, {}] },
};

/** Undefined for a request that is not valid. */
function ceiling(operation: string, fields: object, rates?: object[] | string): number | undefined {
  const CREDIT_RATES = typeof rates === 'string' ? rates : JSON.stringify(rates ?? []);
  configure({ CREDIT_RATES });
  const contract = paid.find(({ name }) => name === operation);
  if (!contract) throw new Error(`${operation} is not paid.`);
  const required = { ...requiredOf[operation], ...fields };
  const schema = bodySchema(contract, () => ({
    VIDEO_EXTEND_SOURCE: 'either',
    VIDEO_MODELS_EXTRA: ['vidq9'],
  }));
  const { data } = schema.safeParse(required);
  return data === undefined ? undefined : pricedTask(operation, contract.price, Object(data)).ceiling;
}

const frames = (...durations: (number | undefined)[]) => ({
  image_settings: durations.map((duration) => ({ duration })),
});

describe('the ceiling of a task', () => {
  test.each([
    ['relightImage', {}, 1],
    ['textToVideo', {}, 16 * 50],
    ['textToVideo', { model: 'vidq9' }, 16 * 50],
    ['textToVideo', { model: 'vidq2-pro-fast', duration: 0.0 }, undefined],
    ['textToVideo', { model: 'vidq2-pro' }, 8 * 50],
    ['textToVideo', { duration: 0 }, 16 * 50],
    ['textToVideo', { duration: 3 }, 3 * 50],
    ['textToVideo', { duration: 3, is_rec: true }, 3 * 50 + 10],
    ['textToVideo', { duration: 3, is_rec: false }, 3 * 50],
    ['multiframeVideo', frames(5, 7), 12 * 50],
    ['multiframeVideo', frames(2.5, 7.001), 11 * 50],
    ['multiframeVideo', frames(5, undefined, 2), 14 * 50],
    ['multiframeVideo', frames(5, 0), 12 * 50],
    ['multiframeVideo', frames(20, -15), 27 * 50],
    ['multiframeVideo', frames(1000, undefined), 1007 * 50],
    ['multiframeVideo', frames(1e300, 1), Number.MAX_SAFE_INTEGER],
  ])('follows from the price rule of %s for %j: %j', (operation, fields, expected) => {
    expect(ceiling(operation, fields)).toBe(expected);
  });

  const rates = [
    { operation: 'textToVideo', second: 10 },
    { operation: 'textToVideo', model: 'vidq3-pro', second: 20, assumedSeconds: 4 },
    { operation: 'textToVideo', model: 'vidq3-pro', resolution: '1080p', second: 5 },
    { operation: 'textToVideo', model: 'vidq1', seconds: 5, task: 33 },
    { operation: 'textToVideo', model: 'vid2.0', seconds: 8, second: 30 },
    { operation: 'multiframeVideo', task: 20, frame: 5 },
    { operation: 'multiframeVideo', seconds: 9, task: 99 },
  ];

  test.each([
    ['the operation', { model: 'vid2.0', duration: 5 }, 50],
    ['the model', { model: 'vidq3-pro', duration: 5, resolution: '720p' }, 100],
    ['the model and resolution', { model: 'vidq3-pro', duration: 5, resolution: '1080p' }, 25],
    ['the dearest of open resolutions', { model: 'vidq3-pro', duration: 5 }, 100],
    ['the model and seconds', { model: 'vidq1', duration: 5 }, 33],
    ['other seconds', { model: 'vidq1', duration: 4 }, 40],
    ['the dearest of open models', { duration: 5 }, 100],
    ['the dearest of open seconds', { model: 'vid2.0' }, 8 * 30],
    ['seconds assumed for the model', { model: 'vidq3-pro', resolution: '720p' }, 80],
  ])('takes the operator’s rate of %s: %j', (_, fields, expected) => {
    expect(ceiling('textToVideo', fields, rates)).toBe(expected);
  });

  test('adds a part for the task and for each frame', () => {
    expect(ceiling('multiframeVideo', frames(7, 7, 7), rates)).toBe(35);
    // The provider may round up each fraction, or their sum.
    expect(ceiling('multiframeVideo', frames(2, 0.5, 6.5), rates)).toBe(99);
    // Their sum is infinite, and no part is for each second.
    expect(ceiling('multiframeVideo', frames(1e308, 1e308), rates)).toBe(30);
  });
});

const models = ['vidq3-pro', 'vidq2-pro', 'vidq1', 'vidq9'];
const resolutions = ['540p', '1080p'];
const maybe = <T>(...values: T[]) => fc.constantFrom(undefined, ...values);
const credits = fc.constantFrom(0, 1, 7, 30);
const rows: fc.Arbitrary<RateRow[]> = fc.array(
  fc.record({
    operation: fc.constantFrom(...paid.map(({ name }) => name)),
    model: maybe(...models),
    resolution: maybe(...resolutions),
    seconds: maybe(1, 5, 16),
    task: credits,
    frame: credits,
    second: credits,
  }),
  { maxLength: 6 },
);
const body = fc.record({
  model: maybe(...models),
  resolution: maybe(...resolutions),
  duration: maybe(-3, 0, 0.5, 1, 4.999, 5, 7, 16, 2 ** 31 - 1),
  is_rec: maybe(true, false),
  image_settings: fc.array(
    fc.record({ duration: maybe(-1, 0, 0.001, 0.5, 1, 2.5, 6.999, 7, 16, 2 ** 31 - 1) }),
    { minLength: 2, maxLength: 9 },
  ),
});

/** All that a provider may choose for a field which the request leaves to it. */
const choices = <T>(given: T | undefined, all: readonly T[]) => (given === undefined ? all : [given]);

test('is never below what the rates charge for whatever the provider chooses', async () => {
  const reached = new Set<string>();
  await check(
    fc.record({ contract: fc.constantFrom(...paid), rates: rows, sent: body }),
    async ({ contract: { name, price }, rates, sent }) => {
      const reserved = ceiling(name, sent, rates);
      if (reserved === undefined) return;
      reached.add(name);
      if (name === 'relightImage') return;
      const own = sent.duration ?? (name.startsWith('extend') ? 5 : 0);
      const durations =
        name === 'multiframeVideo' ? sent.image_settings.map((it) => it.duration ?? 0) : [own];
      const stated = durations.filter((it) => it > 0);
      const [count, open] = [durations.length, durations.length - stated.length];
      // A provider may round up each of several fractions, or their sum.
      const sums = [stated, stated.map(Math.ceil)].map((each) => each.reduce((sum, it) => sum + it, 0));
      for (const model of choices(sent.model, [...models, 'another']))
        for (const resolution of choices(sent.resolution, [...resolutions, 'another'])) {
          const longest = name === 'textToVideo' ? (model === 'vidq2-pro' ? 8 : 16) : 7;
          const chosen = open > 0 ? [1, 5, 7, longest] : [0];
          for (const seconds of sums.flatMap((sum) =>
            chosen.map((it) => sum + open * Math.min(it, longest)),
          )) {
            const fits = rates.filter(
              (row) =>
                row.operation === name &&
                [row.model ?? model, row.resolution ?? resolution].join() === [model, resolution].join() &&
                (row.seconds ?? Math.ceil(seconds)) === Math.ceil(seconds),
            );
            const named = (row: RateRow) => [row.model, row.resolution, row.seconds].filter(Boolean).length;
            const most = Math.max(...fits.map(named));
            const charged = fits.length > 0 ? fits.filter((row) => named(row) === most) : [price.rate];
            for (const { task = 0, frame = 0, second = 0 } of charged) {
              const extra = name === 'textToVideo' && sent.is_rec ? 10 : 0;
              expect(reserved).toBeGreaterThanOrEqual(task + frame * count + second * seconds + extra);
            }
          }
        }
    },
    { weight: 20 },
  );
  // An operation that has required fields gets them from requiredOf.
  expect([...reached].sort()).toEqual(paid.map(({ name }) => name).sort());
});

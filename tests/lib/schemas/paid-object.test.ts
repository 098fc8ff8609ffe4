import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { fileOf, loadPaidContracts } from '../../../infra/operations.ts';
import { invoke } from '../../support/invoke.ts';
import { misbehave, type ProxyName, proxies, simulation } from '../../support/proxies.ts';

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
function send(name: ProxyName, body: object) {
  // This provider takes a body without text and picture.
  misbehave({ kind: 'reply' });
  return invoke(proxies[name], name, { body });
}

const url = 'https://example.com/a.png';
const model = 'vidq2-pro';

const didYouMean = (field: string) => `is unknown; did you mean \`${field}\`?`;

/** Every field of each paid operation, with some value. */
const complete = Object.fromEntries(
  (await loadPaidContracts()).map(({ name }) => {
    const { properties } =
      document.components.schemas[`${name.charAt(0).toUpperCase()}${name.slice(1)}Request`];
    return [fileOf(name), Object.keys(properties)];
  }),
);
const withValues = (fields: readonly string[]) => Object.fromEntries(fields.map((field) => [field, 'x']));

const alphabet = [...'abcdefghijklmnopqrstuvwxyz0123456789_'];
const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** Every name that is one edit away, or has other case or separators. */
function misspellings(name: string): string[] {
  const letters = [...name];
  const places = [...letters.keys()];
  const ends = [...places, letters.length];
  const edits = [
    ...places.map((at) => letters.toSpliced(at, 1)),
    ...places.slice(1).map((at) => letters.toSpliced(at - 1, 2, ...letters.slice(at - 1, at + 1).reverse())),
    ...ends.flatMap((at) => alphabet.map((letter) => letters.toSpliced(at, 0, letter))),
    ...places.flatMap((at) => alphabet.map((letter) => letters.with(at, letter))),
  ].map((edited) => edited.join(''));
  const words = name.split('_');
  const camelCase = words.map((word, index) => (index > 0 ? capitalized(word) : word)).join('');
  const joined = ['', '-', '.'].map((separator) => words.join(separator));
  const others = [name.toUpperCase(), capitalized(name), camelCase, ...joined, letters.join('_'), ` ${name}`];
  const all = [...(name.length < 4 ? [] : edits), ...others];
  return [...new Set(all)].filter((each) => each !== name && each !== '');
}

/** As many unknown fields as one request compares. */
const chunksOf = (items: readonly string[], size: number) =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

const ofOtherServices = new Set(['image', 'mode', 'metadata', 'speed']);

const fields = Object.entries(complete).flatMap(([name, all]) =>
  all.map((field) => [name, field, all] as const),
);

describe('a misspelled field of a paid request', () => {
  test.each(fields)('gets a 400 by %s for every misspelling of %s', async (name, field, known) => {
    const others = withValues(known.filter((each) => each !== field));
    // A field that the operation or another service has is no misspelling.
    const all = misspellings(field).filter((each) => !known.includes(each) && !ofOtherServices.has(each));
    expect(all.length).toBeGreaterThanOrEqual(field.length < 4 ? 3 : 70 * field.length);
    for (const some of chunksOf(all, 60)) {
      const { status, body } = await send(name, { ...others, ...withValues(some) });
      const named = body.details.filter(({ message }: { message: string }) => message === didYouMean(field));

      expect(status).toBe(400);
      expect(named.map(({ path }: { path: string }) => path)).toEqual(some.map((each) => `body.${each}`));
    }
    expect(simulation.received).toEqual([]);
  });

  test('appears with all other issues of the request', async () => {
    const image_settings = [{ keyimage: url }, { key_image: 7, duration: '9', promt: 'x' }];
    const { body } = await send('multiframe-video', { modle: model, start_image: '0', image_settings });

    const paths = body.details.map(({ path }: { path: string }) => path.replace('body.', '')).sort();
    expect(paths.join(' ')).toBe(
      'image_settings.0.keyimage image_settings.1.duration image_settings.1.key_image image_settings.1.promt model modle start_image',
    );
  });
});

test.each<[ProxyName, object, string]>([
  ['text-to-video', { duration: 11, model: 'vidq2-pro-fast', seed: 'x', style: 'x' }, 'seed style duration'],
  ['extend-video', { model, duration: 8, video_url: url }, 'duration video_creation_id'],
  ['extend-video', { model, duration: 8, video_creation_id: 'x' }, 'duration video_url'],
  [
    'relight-image',
    {
      image: url,
      style: 'x',
      transfer_light_from_lightmap: url,
      transfer_light_from_reference_image: url,
    },
    'style transfer_light_from_reference_image',
  ],
])('a rule between fields of %s is checked even if other fields of %j fail', async (name, fields, paths) => {
  const { status, body } = await send(name, fields);

  expect([status, body.details.map(({ path }: { path: string }) => path.slice(5)).join(' ')]).toEqual([
    400,
    paths,
  ]);
});

/** Every other field is absent, so a near miss would be found. */
const picture = { images: [url] };
const required = { image: url, model, start_image: url, image_settings: [{}, {}] };

function requiredOf(name: ProxyName): object {
  const { [name]: known = [] } = complete;
  // The simulated provider needs a picture or a text.
  if (name === 'text-to-video') return picture;
  return Object.fromEntries(Object.entries(required).filter(([field]) => known.includes(field)));
}

describe('an unknown field of a paid request', () => {
  /** Fields that real programs send, and words that are near a field but mean something of their own. */
  const extras: [ProxyName, string][] = [
    [
      'multiframe-video',
      'seed aspect_ratio prompt duration images style image_url video_id webhook callback',
    ],
    ['multiframe-video', 'modelId model_name'],
    [
      'text-to-video',
      'type template subjects video_url sound ratio audio_url image_url voice video_id webhook img',
    ],
    ['relight-image', 'seed model size num_images negative_prompt image_url webhook video_id settings'],
    // Too short for an edit, and other case together with one.
    ['text-to-video', 'bg bgn Promt id_voice'],
    // One edit makes `style` misspelled. Each of these takes two: other letters, half a swap, or a swap and a letter.
    ['text-to-video', 'stoke stoye stloe stlya'],
  ];

  test.each(extras)('drops out for %s if it is not a near miss: %s', async (name, words) => {
    const extra = withValues(words.split(' '));
    const { status, text } = await send(name, { ...requiredOf(name), ...extra });

    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    const forwarded = Object.keys(simulation.received[0]?.body ?? {});
    expect(forwarded.filter((field) => field in extra)).toEqual([]);
  });

  test.each([
    ['next to the field that it resembles', { prompt: 'x', promt: 'y' }],
    ['that is not set', { promt: '', durration: null, image: [] }],
    ['that is far longer than any field', { [`prompt${'x'.repeat(1_000_000)}`]: 'y' }],
  ])('drops out: %s', async (_, body) => {
    expect((await send('text-to-video', { ...picture, ...body })).status).toBe(200);
  });

  test.each([
    [99, 400],
    [100, 200],
  ])('gets compared only among a bounded number: after %i others the status is %i', async (count, status) => {
    const others = Object.fromEntries(Array.from({ length: count }, (_, index) => [`extra_${index}`, 1]));

    expect((await send('text-to-video', { ...picture, ...others, promt: 'x' })).status).toBe(status);
  });
});

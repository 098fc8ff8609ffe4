import type { Finished, ImageInput, WaitingOptions } from '@node-registry/registry-client';
import type { StudioConfig } from '../studio-files.ts';

export type Fields = Record<string, unknown>;

/** A paid call of the client. The service checks the fields, which come from its own document. */
export type PaidCall = (body: never, options: WaitingOptions & { wait: true }) => Promise<Finished>;

export interface Operation {
  /** In the OpenAPI document. */
  name: string;
  title: string;
  /** The method of the client. */
  method: 'images.relight' | 'videos.fromText' | 'videos.extend' | 'videos.multiframe';
  action: string;
  /** The fields above the fold. */
  shown: string[];
  start: (config: StudioConfig) => Fields;
}

export const operations: readonly Operation[] = [
  {
    name: 'textToVideo',
    title: 'Film',
    method: 'videos.fromText',
    action: 'Make the film',
    shown: ['prompt', 'model', 'duration', 'resolution', 'aspect_ratio', 'images'],
    start: () => ({
      prompt: 'Rain on a lake at dawn, slow camera, reeds in front',
      model: 'vidq3-pro',
      duration: 5,
      resolution: '720p',
      aspect_ratio: '16:9',
    }),
  },
  {
    name: 'extendVideo',
    title: 'Extend',
    method: 'videos.extend',
    action: 'Extend the film',
    shown: ['prompt', 'model', 'duration', 'resolution', 'images'],
    start: () => ({ prompt: 'The rain stops, and the sun comes out', model: 'vidq2-pro', duration: 5 }),
  },
  {
    name: 'multiframeVideo',
    title: 'Frames',
    method: 'videos.multiframe',
    action: 'Make the film',
    shown: ['model', 'resolution', 'start_image', 'image_settings'],
    start: ({ samplePicture }) => ({
      model: 'vidq2-pro',
      resolution: '720p',
      start_image: samplePicture,
      image_settings: [
        { key_image: samplePicture, prompt: 'Clouds gather', duration: 3 },
        { key_image: samplePicture, prompt: 'Rain falls', duration: 3 },
      ],
    }),
  },
  {
    name: 'relightImage',
    title: 'Relight',
    method: 'images.relight',
    action: 'Relight the picture',
    shown: ['image', 'prompt', 'style', 'light_transfer_strength'],
    start: ({ samplePicture }) => ({ image: samplePicture, prompt: 'Portrait, (warm light:1.2)' }),
  },
];

/** The request with a word that makes the provider go wrong, in a place where it reads one. */
export function withFailure(body: Fields, word: string): Fields {
  if (word === '') return body;
  const [first, ...rest] = Array.isArray(body.image_settings) ? body.image_settings : [];
  if (first) return { ...body, image_settings: [withFailure(first, word), ...rest] };
  return { ...body, prompt: `${body.prompt ?? ''} ${word}`.trim() };
}

/** The request as JSON that a person can read: bytes are named. */
export function readable(body: Fields, space = 2): string {
  return JSON.stringify(body, (_, value) => (value instanceof Blob ? `<${nameOf(value)}>` : value), space);
}

export function nameOf(picture: ImageInput): string {
  if (picture instanceof File) return `${picture.name}, ${(picture.size / 1_000_000).toFixed(1)} MB`;
  return String(picture).split('/').at(-1) ?? '';
}

export function asCurl(operation: Operation, body: Fields, key: string, { apiUrl, paths }: StudioConfig) {
  const quoted = readable(body).replaceAll("'", "'\\''");
  return `curl ${apiUrl}${paths[operation.name]} \\
  -H "Authorization: Bearer $OWNER" \\
  -H "Idempotency-Key: ${key}" \\
  --json '${quoted}'`;
}

export function asCode({ method }: Operation, body: Fields, { apiUrl }: StudioConfig): string {
  const [, file] = /"<([^"]+), [\d.]+ MB>"/.exec(readable(body)) ?? [];
  const written = readable(body)
    .replaceAll(/^( +)"(\w+)":/gm, '$1$2:')
    .replaceAll(/"<[^"]*>"/g, 'picture');
  return `${file ? "import { openAsBlob } from 'node:fs';\n" : ''}import { createRegistryClient } from '@node-registry/registry-client';

const accessToken = process.env.OWNER;
const registry = createRegistryClient({ baseUrl: '${apiUrl}', accessToken });${file ? `\nconst picture = await openAsBlob(${JSON.stringify(file)});` : ''}
const { media } = await registry.${method}(${written}, {
  order: crypto.randomUUID(),
  wait: true,
});
console.log(media);`;
}

import { invalid, sha256Of } from './request.ts';
import { RegistryError } from './registry-error.ts';
import { textAt, untilDone } from './send.ts';
import type { Fetch, Settings } from './settings.ts';

/** An image from a caller: a URL or base64 data, or the bytes themselves. */
export type ImageInput = string | Blob | Uint8Array | ArrayBuffer;

const imageFields = [
  'image',
  'transfer_light_from_lightmap',
  'transfer_light_from_reference_image',
  'images',
  'start_image',
  'key_image',
  'wm_url',
] as const;
type ImageField = (typeof imageFields)[number];

/** Fields whose URLs the provider opens. Only this page or machine could open a path, or a `blob:` or `file:` URL. */
const opened = new RegExp(`(?:^|\\.)(?:${imageFields.join('|')}|video_url)(?:\\[\\d+\\])?$`);
const local = /^(?:blob:|file:|(?:[a-z]:)?[^:]*[.\\~])/i;

type Images<Value> = Value extends readonly unknown[]
  ? ImageInput[]
  : Value extends string
    ? ImageInput
    : Value;

/** A request whose images may be bytes, and whose model may be one that only its registry knows. */
export type WithImages<Body> = {
  [Field in keyof Body]: Field extends ImageField
    ? Images<Body[Field]>
    : Field extends 'model'
      ? Body[Field] | (string & {})
      : Body[Field] extends readonly (infer Item extends object)[] | undefined
        ? WithImages<Item>[] | Extract<Body[Field], undefined>
        : Body[Field];
};

export interface UploadProgress {
  sent: number;
  total: number;
}

/** The most bytes of all images together that fit into a request, as base64. */
const maxInlineBytes = 4_000_000;

interface Prepared {
  body: unknown;
  /** The images that may have to be uploaded, by their digests. */
  uploads: Map<string, Blob>;
}

/**
 * The request in a form for JSON: small images as base64, larger ones by a name made from their bytes. Throws
 * for values that would buy something else than was meant.
 */
export async function withoutBytes(body: unknown): Promise<Prepared> {
  const uploads = new Map<string, Blob>();
  let inline = 0;
  const convert = async (value: unknown, path: string): Promise<unknown> => {
    const blob = blobOf(value);
    if (blob) {
      const bytes = new Uint8Array(await blob.arrayBuffer());
      // The service reads an empty string as an absent image, and would run another task.
      if (bytes.length === 0) throw invalid(path, 'has no bytes');
      if (inline + bytes.length <= maxInlineBytes) {
        inline += bytes.length;
        return base64(bytes);
      }
      if (!crypto.subtle) throw invalid(path, 'is over 4 MB: that needs https');
      const digest = await sha256Of(bytes);
      uploads.set(digest, blob);
      return `upload:${digest}:${bytes.length}`;
    }
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const [place, item] of value.entries()) items.push(await convert(item, `${path}[${place}]`));
      return items;
    }
    // JSON would send null, which means absent.
    if (typeof value === 'number' && !Number.isFinite(value)) throw invalid(path, `is ${value}`);
    if (typeof value === 'string' && opened.test(path) && local.test(value.trim()))
      throw invalid(path, 'is a path or URL that only this machine can open: pass the bytes');
    if (typeof value !== 'object' || value === null) return value;
    const fields: [string, unknown][] = [];
    for (const [name, field] of Object.entries(value))
      fields.push([name, await convert(field, `${path}.${name}`)]);
    return Object.fromEntries(fields);
  };
  return { body: await convert(body, 'body'), uploads };
}

function blobOf(value: unknown): Blob | undefined {
  if (typeof Blob !== 'undefined' && value instanceof Blob) return value;
  const isBuffer = Object.prototype.toString.call(value) === '[object ArrayBuffer]';
  if (isBuffer || ArrayBuffer.isView(value))
    return new Blob([value as ArrayBuffer | Uint8Array<ArrayBuffer>]);
  return undefined;
}

const pieceLength = 0x8000;

function base64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length; start += pieceLength)
    pieces.push(String.fromCharCode(...bytes.subarray(start, start + pieceLength)));
  return btoa(pieces.join(''));
}

interface UploadOptions {
  signal: AbortSignal | undefined;
  onUpload: ((progress: UploadProgress) => void) | undefined;
  /** The caller's own fetch, which is used even if a browser could report the progress. */
  fetch: Fetch | undefined;
}

/** Uploads the images that an `upload_needed` names, one after the other. */
export async function uploadImages(
  needed: RegistryError,
  uploads: ReadonlyMap<string, Blob>,
  settings: Settings,
  { signal, onUpload, fetch: request }: UploadOptions,
): Promise<void> {
  const urls = new Set(needed.details.flatMap(({ uploadUrl }) => uploadUrl ?? []));
  const wanted = [...urls].map((url) => ({
    url,
    blob: uploads.get(new URL(url).pathname.split('/').at(-1) ?? ''),
  }));
  const total = wanted.reduce((sum, { blob }) => sum + (blob?.size ?? 0), 0);
  let before = 0;
  for (const { url, blob } of wanted) {
    if (!blob) throw needed;
    onUpload?.({ sent: before, total });
    const onSent = (sent: number) => onUpload?.({ sent: before + sent, total });
    await put(settings, { url, blob, signal, onSent }, request);
    before += blob.size;
  }
  onUpload?.({ sent: total, total });
}

/** The used part of the browser's older interface: only that reports how much of a body was sent. */
interface OlderRequest {
  readonly status: number;
  readonly upload: { onprogress: (event: { loaded: number }) => void };
  onload: () => void;
  onerror: () => void;
  onabort: () => void;
  open(method: string, url: string): void;
  send(body: Blob): void;
  abort(): void;
}

function olderRequest(): OlderRequest | undefined {
  const Older: (new () => OlderRequest) | undefined = Object(globalThis).XMLHttpRequest;
  return Older && new Older();
}

/** The same bytes again do no harm; their progress begins again. */
async function put(settings: Settings, upload: Upload, given: Fetch | undefined): Promise<void> {
  const { url, blob: body, signal } = upload;
  const fetch: Fetch = async (to, init) => {
    const older = !given && olderRequest();
    return older ? putWithProgress(older, upload, init.signal) : (given ?? globalThis.fetch)(to, init);
  };
  await untilDone<object>(settings, signal, {
    async attempt() {
      const init = { method: 'PUT', body, signal };
      // As long as the signed URL lives.
      const { response, lost } = await textAt({ timeoutMs: 900_000, fetch }, url, init, maxInlineBytes);
      const status = response?.status;
      if (status === 200) return { outcome: { data: {} } };
      const end = lost ? 'was cut off' : `failed with status ${status}`;
      const sentence = `The upload of an image ${end}.`;
      const error = new RegistryError('upload_failed', sentence, { status, cause: lost });
      return { outcome: { error, isFromService: false } };
    },
    mayRepeat: ({ error: { status = 500 } }) => status >= 500,
  });
}

interface Upload {
  url: string;
  blob: Blob;
  signal: AbortSignal | undefined;
  onSent: (bytes: number) => void;
}

function putWithProgress(
  request: OlderRequest,
  { url, blob, onSent }: Upload,
  signal: RequestInit['signal'],
): Promise<Response> {
  return new Promise((resolve, reject) => {
    request.open('PUT', url);
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => resolve(new Response(null, { status: request.status }));
    request.onerror = reject;
    request.onabort = reject;
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(blob);
  });
}

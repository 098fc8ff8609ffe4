import { isAbsent, parsed } from './read-text.ts';
import { RegistryError } from './registry-error.ts';
import { supported } from './request.ts';
import { type Answer, textAt } from './send.ts';
import type { Settings } from './settings.ts';

const maxFileBytes = 50_000_000;

export interface Kept {
  etag: string;
  content: object;
}

/**
 * Browsers cache files and their ETags themselves, and would need the server's permission to send this header
 * from another origin.
 */
const hasHttpCache = 'document' in globalThis || 'WorkerGlobalScope' in globalThis;

interface FileRequest {
  url: string;
  known: Kept | undefined;
  signal: AbortSignal | undefined;
}

/** Requests a file once. The data is undefined if the file does not exist. */
export async function readFile(
  settings: Settings,
  { url, known, signal }: FileRequest,
): Promise<Answer<Kept | undefined>> {
  const headers = known && !hasHttpCache ? { 'if-none-match': known.etag } : {};
  const init = { headers, ...supported({ credentials: 'omit' }) };
  const { response, text, lost } = await textAt(settings, url, { init, signal, maxBytes: maxFileBytes });
  if (lost) return { outcome: { error: lost, isFromService: false } };
  const { status, ok } = response;
  const etag = response.headers.get('etag') ?? '';
  if (known && (status === 304 || (ok && etag === known.etag))) return { response, outcome: { data: known } };
  if (isAbsent(response, text ?? '')) return { response, outcome: { data: undefined } };
  const content = ok && text !== undefined ? parsed(text) : undefined;
  if (typeof content === 'object' && content !== null)
    return { response, outcome: { data: { etag, content } } };
  const code = status >= 500 || status === 429 ? 'unavailable' : 'invalid_reply';
  const sentence = `${url} was answered ${status} without a file of a registry's index.`;
  const error = new RegistryError(code, sentence, { status });
  return { response, outcome: { error, isFromService: false } };
}

import { addFacts, sha256Of } from './request.ts';
import { RegistryError } from './registry-error.ts';
import { becauseOf, codeIn, tokenOf } from './send.ts';
import { type AccessToken, type Fetch, milliseconds, type SendOptions, type Settings } from './settings.ts';
import type { BulkEntry, BulkPair, CallOptions, NodeVersion, PublishBody, Reply } from './types.ts';
import { pause, within } from './within.ts';

/** Puts the bytes to the signed URL with `Content-Type: application/zip`; returns the response's status. */
export type Upload = (url: string, archive: Uint8Array | Blob, signal?: AbortSignal) => Promise<number>;

export interface PublishInput {
  publisherId: string;
  nodeId: string;
  node?: PublishBody['node'];
  version: PublishBody['node_version'];
  /** A personal access token or the ID token of a CI, or a function that returns one. */
  personalAccessToken: AccessToken;
  /** The zip. */
  archive: Uint8Array | Blob;
}

export interface PublishOptions extends SendOptions {
  signal?: AbortSignal | undefined;
  /** How long to wait for the upload to be checked. */
  waitMs?: number | undefined;
  /** How long the upload may take, including all attempts. */
  uploadTimeoutMs?: number | undefined;
  onStep?: ((step: 'registering' | 'uploading' | 'checking') => void) | undefined;
  /** Another way to send the bytes, for example with progress. */
  upload?: Upload | undefined;
}

export interface Published {
  version: NodeVersion & { downloadUrl: string };
  /** True if an earlier call published these bytes and this one had nothing to do. */
  wasPublished: boolean;
}

interface Versions {
  bulk: (pairs: BulkPair[], options: CallOptions) => Promise<BulkEntry[]>;
  register: (
    publisherId: string,
    nodeId: string,
    body: PublishBody,
    options: CallOptions,
  ) => Promise<Reply<'publishNodeVersion'>>;
}

const firstPollMs = 250;
const maxPollMs = 2_000;
const standardWaitMs = 120_000;
const uploadAttempts = 4;
/** The lifetime of the signed URL, which is enough for 100 MB at 1 Mbit/s. */
const standardUploadMs = 15 * 60_000;

/**
 * Publishes a version from any state that an earlier call left:
 *
 *   published with these bytes   -> done, nothing is uploaded
 *   published with other bytes   -> an error: published bytes never change
 *   pending, or absent           -> registered (again), uploaded, and waited for
 *
 * Always asks the service to register it, so that only callers who may publish it learn that it is published.
 */
export async function publish(
  settings: Settings,
  versions: Versions,
  input: PublishInput,
  { waitMs = standardWaitMs, uploadTimeoutMs = standardUploadMs, upload, onStep, ...calls }: PublishOptions,
): Promise<Published> {
  const { signal, timeoutMs = settings.timeoutMs, fetch: request = settings.fetch } = calls;
  milliseconds('waitMs', waitMs);
  milliseconds('uploadTimeoutMs', uploadTimeoutMs, 1);
  const digest = await digestOf(input.archive);
  const pair = { node_id: input.nodeId, version: input.version.version };
  const look = () =>
    findVersion(versions, pair, calls).catch((error: unknown) => {
      // The upload has arrived, which this read alone can't know.
      throw error instanceof RegistryError ? addFacts(error, { mayBeDone: true }) : error;
    });
  onStep?.('registering');
  const token = await tokenOf('personalAccessToken', input.personalAccessToken, timeoutMs, signal);
  const { publisherId, nodeId, node = {}, version: fields } = input;
  const body = { personal_access_token: token ?? '', node, node_version: fields };
  const registered = await versions.register(publisherId, nodeId, body, calls).catch((error: unknown) => {
    // The digest tells whether the bytes are the same.
    if (digest === undefined || !(error instanceof RegistryError) || error.code !== 'version_exists')
      throw error;
  });
  if (registered) {
    onStep?.('uploading');
    await uploadAgain(
      upload ?? uploadBy(request),
      registered.signedUrl,
      input.archive,
      uploadTimeoutMs,
      signal,
    );
    onStep?.('checking');
  }
  const version = await waitFor(look, digest, waitMs, signal);
  return { version, wasPublished: registered === undefined };
}

export async function findVersion(versions: Pick<Versions, 'bulk'>, pair: BulkPair, options: CallOptions) {
  const [entry] = await versions.bulk([pair], options);
  if (entry?.status === 'error') throw new RegistryError('invalid_request', String(entry.error_message));
  return entry?.node_version;
}

/**
 * Waits until the version is open, or pending for a reason that waiting doesn't end. Reads may be older than
 * the upload and show why an earlier one failed, so a reason counts only if it is read twice.
 */
async function waitFor(
  look: () => Promise<NodeVersion | undefined>,
  digest: string | undefined,
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<Published['version']> {
  const end = Date.now() + waitMs;
  let reasonBefore: string | undefined;
  for (let wait = firstPollMs; Date.now() < end; wait = Math.min(wait * 1.5, maxPollMs)) {
    const version = await look();
    const opened = openedVersion(version, digest);
    if (opened) return opened;
    const reason = finalReason(version);
    if (version && reason !== undefined && reason === reasonBefore) throw notPublished(version);
    reasonBefore = reason;
    await pause(wait, signal);
  }
  throw new RegistryError(
    'still_checking',
    'The upload is still being checked. Publish again to see the result.',
  );
}

function finalReason(version: NodeVersion | undefined): string | undefined {
  const code = version?.status_reason_code;
  return code === 'awaiting_upload' ? undefined : code;
}

function notPublished({ status_reason: sentence, status_reason_code: reason }: NodeVersion): RegistryError {
  const code = reason === 'archive_rejected' ? 'archive_rejected' : 'version_closed';
  return new RegistryError(code, sentence ?? String(reason));
}

/** Why a version can no longer be published. */
const closings: Record<string, string> = {
  NodeVersionStatusBanned: 'The operator of the registry has banned this version',
  NodeVersionStatusDeleted: 'This version is withdrawn',
};

/** The version once it no longer waits for its archive; undefined while it does. */
function openedVersion(version: NodeVersion | undefined, digest: string | undefined) {
  if (version === undefined || version.status === 'NodeVersionStatusPending') return undefined;
  const { downloadUrl, status, status_reason: reason, sha256 } = version;
  if (downloadUrl === undefined || status === 'NodeVersionStatusDeleted') {
    const because = reason === undefined ? '' : `: ${reason.replace(/\.$/, '')}`;
    throw new RegistryError(
      'version_closed',
      `${closings[status ?? ''] ?? 'This version is closed'}${because}. Publish a new version.`,
    );
  }
  if (digest !== undefined && sha256 !== digest) {
    throw new RegistryError(
      'published_with_other_bytes',
      'This version is published with other files. Give it a new version, then publish that.',
    );
  }
  return { ...version, downloadUrl };
}

/** Sending the same bytes again does no harm, so a broken upload is retried. */
async function uploadAgain(
  upload: Upload,
  url: string,
  archive: Uint8Array | Blob,
  uploadTimeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const send = async (either: AbortSignal): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      const failure = await upload(url, archive, either).then(
        (status) => (status === 200 ? undefined : { status, cause: undefined }),
        (cause: unknown) => ({ status: undefined, cause }),
      );
      if (failure === undefined) return;
      either.throwIfAborted();
      const { status } = failure;
      if (attempt === uploadAttempts || (status !== undefined && status < 500)) {
        const why = becauseOf(codeIn(failure.cause) || codeIn(failure));
        const how = status === undefined ? `broke off${why}` : `was answered with status ${status}`;
        throw uploadFailed(how, failure);
      }
      await pause(firstPollMs * 2 ** attempt * (0.5 + Math.random() / 2), either);
    }
  };
  const late = () => uploadFailed(`took longer than ${uploadTimeoutMs / 1000} seconds`);
  await within(uploadTimeoutMs, signal, send, late);
}

function uploadFailed(
  how: string,
  facts: { status?: number | undefined; cause?: unknown } = {},
): RegistryError {
  return new RegistryError('upload_failed', `The upload ${how}. Publish again.`, facts);
}

function uploadBy(request: Fetch): Upload {
  return async (url, archive, signal) => {
    const response = await request(url, {
      method: 'PUT',
      headers: { 'content-type': 'application/zip' },
      body: archive instanceof Blob ? archive : new Blob([archive as Uint8Array<ArrayBuffer>]),
      ...(signal && { signal }),
    });
    await response.body?.cancel();
    return response.status;
  };
}

/** Undefined on pages that came over plain http, where browsers have no digests. */
async function digestOf(archive: Uint8Array | Blob): Promise<string | undefined> {
  if (globalThis.crypto.subtle === undefined) return undefined;
  const bytes = archive instanceof Uint8Array ? archive : new Uint8Array(await archive.arrayBuffer());
  return sha256Of(bytes as Uint8Array<ArrayBuffer>);
}

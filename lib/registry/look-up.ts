import { randomInt } from 'node:crypto';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { inParts } from '../in-parallel.ts';
import { maxAnswerBytes, SerializedJson, weightOf } from '../json.ts';
import { note } from '../log.ts';
import type { NodeVersion } from '@node-registry/registry-rules/schemas/node-version';
import { normalizeVersion, versionIssue } from '@node-registry/registry-rules/version-label';
import { isSameNodeId, type Key, keyName, nodeVersionKey } from '../store/keys.ts';
import { bytesOf, maxBatchKeys, readAll } from '../store/read.ts';
import { nodeVersionView } from './node-versions.ts';
import { type NodeVersionRecord, nodeVersionRecord } from './records.ts';

/** The identifier as sent. */
interface Identifier {
  node_id?: unknown;
  version?: unknown;
}

type Lookup =
  | { status: 'success'; node_version: NodeVersion }
  | { status: 'not_found' | 'error'; error_message: string };

const maxNodeIdLength = 200;
const overloaded = 'The store is overloaded; request this pair again.';
export const tooMuch = {
  status: 'error',
  error_message: 'The response would be too large with this version; request fewer versions at once.',
} as const;

/** With more bytes of repeated pairs, no further one is answered: a small request must not make a large response. */
const maxRepeatedBytes = 1_000_000;
const repeated = {
  status: 'error',
  error_message:
    'This pair was requested several times, which would make the response too large; request it once.',
} as const;

/**
 * Looks up many versions at once, each distinct pair once. Returns the results in the pairs' order. Stops
 * reading after `maxBytes` from the store: more would not fit into the response.
 */
export async function findNodeVersions(
  context: Context,
  identifiers: readonly Identifier[],
  maxBytes: number,
): Promise<Lookup[]> {
  const names = identifiers.map((identifier) => {
    const key = lookupKey(identifier);
    return key && { key, name: keyName(key) };
  });
  const keys = new Map(names.flatMap((named) => (named ? [[named.name, named.key]] : [])));
  const found = await readWithin(context, [...keys.values()], maxBytes);
  const answered = new Set<string>();
  let repeatedBytes = 0;
  return identifiers.map((identifier, index) => {
    const name = names[index]?.name;
    if (name === undefined) return { status: 'error', error_message: identifierIssue(identifier) };
    const version = found.get(name);
    if (typeof version === 'string') return { status: 'error', error_message: version };
    if (!version || !isSameNodeId(version.node_id, String(identifier.node_id))) {
      return { status: 'not_found', error_message: 'The node version does not exist.' };
    }
    if (repeatedBytes > maxRepeatedBytes && answered.has(name)) return repeated;
    const { tags_admin: _, ...node_version } = nodeVersionView(version);
    if (answered.has(name)) repeatedBytes += Buffer.byteLength(JSON.stringify(node_version));
    answered.add(name);
    return { status: 'success', node_version };
  });
}

function lookupKey({ node_id, version }: Identifier): Key | undefined {
  if (typeof node_id !== 'string' || typeof version !== 'string') return undefined;
  const normal = normalizeVersion(version);
  const isNodeId = node_id !== '' && node_id.length <= maxNodeIdLength && node_id.isWellFormed();
  return normal !== undefined && isNodeId ? nodeVersionKey(node_id, normal) : undefined;
}

function identifierIssue({ node_id, version }: Identifier): string {
  if (typeof (version ?? '') !== 'string') return 'The version must be text, such as "1.2.3".';
  const label = String(version ?? '');
  if (normalizeVersion(label) === undefined) return `The version ${versionIssue(label)}.`;
  if (typeof (node_id ?? '') !== 'string') return 'The node_id must be text.';
  return `The node_id must have 1 to ${maxNodeIdLength} characters.`;
}

/**
 * The versions, or why one was not read. Reads in waves: a first batch shows how large the versions are, and the next wave
 * takes as many as there is room for. So the cost and memory of one request are bounded for any size of the versions.
 */
async function readWithin(
  context: Context,
  asked: readonly Key[],
  maxBytes: number,
): Promise<Map<string, NodeVersionRecord | string>> {
  const keys = sampleFirst(asked);
  const found = new Map<string, NodeVersionRecord | string>();
  let bytes = 0;
  let read = 0;
  let unread_pairs = 0;
  let failure: ApiError | undefined;
  const onUnread = (unread: readonly Key[], why: ApiError) => {
    for (const key of unread) found.set(keyName(key), overloaded);
    unread_pairs += unread.length;
    failure ??= why;
  };
  for (let wave = maxBatchKeys; read < keys.length && bytes < maxBytes; ) {
    const batches = inParts(keys.slice(read, read + wave), maxBatchKeys).map((part) =>
      readAll(context, part, { eventually: true, onUnread }),
    );
    for (const items of await Promise.all(batches)) {
      for (const item of items) found.set(keyName(item), nodeVersionRecord(item));
      bytes += bytesOf(items);
      read = Math.min(keys.length, read + maxBatchKeys);
      if (bytes >= maxBytes) break;
    }
    const batchesThatFit = Math.ceil(((maxBytes - bytes) * read) / (Math.max(1, bytes) * maxBatchKeys));
    wave = Math.max(1, batchesThatFit) * maxBatchKeys;
  }
  if (keys.length > 0 && unread_pairs === keys.length) throw failure;
  if (failure) note({ unread_pairs, reason: failure.reason });
  for (const key of keys.slice(read)) found.set(keyName(key), tooMuch.error_message);
  return found;
}

/** Chooses the first batch at random: a caller's small versions there would make us read large ones. */
function sampleFirst(keys: readonly Key[]): Key[] {
  if (keys.length <= maxBatchKeys) return [...keys];
  const rest = [...keys];
  const sample = Array.from({ length: maxBatchKeys }, () => rest.splice(randomInt(rest.length), 1)).flat();
  return [...sample, ...rest];
}

const tooLong = 'must be short enough to be repeated in an answer of 6 MB';

/**
 * Writes `{"<name>":[...]}` within Lambda's limit. Each entry first reserves room for its short form, made by
 * `shorten`, so that long entries early in the list can't crowd out later ones.
 */
export function boundedList<Entry>(
  name: string,
  entries: readonly Entry[],
  shorten: (entry: Entry) => unknown,
): SerializedJson {
  const whole = JSON.stringify({ [name]: entries });
  // A character weighs six bytes at most.
  if (whole.length < maxAnswerBytes / 6) return new SerializedJson(whole);
  const short = entries.map((entry) => JSON.stringify(shorten(entry)));
  let left = maxAnswerBytes - short.reduce((total, text) => total + weightOf(text), 0);
  // The short form repeats the caller's text, and escaping can double its length.
  if (left < 0)
    throw new ApiError('invalid_request', { details: [{ path: `body.${name}`, message: tooLong }] });
  const texts = entries.map((entry, index) => {
    const text = JSON.stringify(entry);
    const replacement = String(short[index]);
    const extra = weightOf(text) - weightOf(replacement);
    if (extra > left) return replacement;
    left -= Math.max(0, extra);
    return text;
  });
  return new SerializedJson(`{"${name}":[${texts.join(',')}]}`);
}

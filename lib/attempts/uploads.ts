import { callerHash } from '../caller.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { untilWritten } from '../store/dynamodb.ts';
import { type Changes, onRevision, typedRead } from '../store/items.ts';
import { type Key, uploadsKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { updating, write } from '../store/write.ts';
import { accountRecord, keyOfAccount } from './account.ts';
import { rejectionOf } from './reserve.ts';

/** Bytes that a caller holds, and names in a request as `upload:<sha256>:<bytes>`. */
export interface CallerImage {
  sha256: string;
  bytes: number;
}

/** The uploads that a caller was asked for in the last minutes, by what their URLs are signed for. */
interface UploadsRecord extends Key {
  asked: Record<string, { at: number; bytes: number }>;
  revision: number;
  /** In seconds, for DynamoDB. */
  ttl: number;
}

const uploadsRecord = typedRead<UploadsRecord>();

export const uploadSeconds = 15 * 60;
const maxOpen = { uploads: 20, bytes: 500_000_000 };

/** Rejects a caller that is blocked, or over the requests of a minute, before it is handed anything. */
export async function requireOpenAccount(context: Context, caller: string): Promise<void> {
  const key = keyOfAccount(caller);
  const account = accountRecord((await get(context, key))[0]) ?? { ...key, caller, revision: 0 };
  const error = rejectionOf(account, { at: Date.now(), ceiling: 0 }, 'minute');
  if (error) throw error;
}

/** Counts uploads before their URLs are handed out. One whose object is there is no longer open. */
export async function countUploads(
  context: Context,
  caller: string,
  uploads: readonly CallerImage[],
  isThere: (upload: CallerImage) => Promise<boolean>,
): Promise<void> {
  const key = uploadsKey(callerHash(caller));
  await untilWritten(context, async () => {
    const seen = uploadsRecord((await get(context, key))[0]);
    const now = Date.now();
    const again = new Set(uploads.map(nameOf));
    let open = Object.entries(seen?.asked ?? {})
      .filter(([name, { at }]) => at > now - uploadSeconds * 1000 && !again.has(name))
      .map(([name, asked]) => ({ sha256: name.split(':')[0] ?? '', ...asked }));
    if (isTooMuch([...open, ...uploads])) {
      const there = await Promise.all(open.map(isThere));
      open = open.filter((_, place) => !there[place]);
    }
    if (isTooMuch([...open, ...uploads])) throw tooManyUploads(open, now);
    const asked = [...open, ...uploads.map((each) => ({ at: now, ...each }))];
    const changes: Changes<UploadsRecord> = {
      asked: Object.fromEntries(asked.map((each) => [nameOf(each), { at: each.at, bytes: each.bytes }])),
      ttl: Math.ceil(now / 1000) + uploadSeconds,
    };
    return (await write(context, updating<UploadsRecord>(key, changes, onRevision(seen)))) || undefined;
  });
}

/** The URL of one digest with few bytes must not hide one with many. */
function nameOf({ sha256, bytes }: CallerImage): string {
  return `${sha256}:${bytes}`;
}

function isTooMuch(uploads: readonly CallerImage[]): boolean {
  const bytes = uploads.reduce((sum, each) => sum + each.bytes, 0);
  return uploads.length > maxOpen.uploads || bytes > maxOpen.bytes;
}

function tooManyUploads(open: readonly { at: number }[], now: number): ApiError {
  const oldest = Math.min(now, ...open.map(({ at }) => at));
  const wait = Math.max(1, Math.ceil((oldest - now) / 1000) + uploadSeconds);
  return new ApiError('too_many_requests', {
    message: `This caller has been asked for as many uploads as may be open: ${maxOpen.uploads}, or ${maxOpen.bytes} bytes. Make them, or wait until their URLs expire.`,
    headers: { 'retry-after': String(wait) },
    reason: 'open-uploads',
  });
}

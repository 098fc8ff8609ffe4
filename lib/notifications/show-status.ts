import { readText, writeIfMatches } from '../bucket/text-objects.ts';
import type { Context } from '../context.ts';
import { parseObject } from '../json.ts';
import { isForward, isState } from './provider-notification.ts';
import type { NotificationRecord } from './records.ts';

type Shown = Pick<NotificationRecord, 'status_key' | 'body' | 'state' | 'at'>;

/** Caches keep a status for seconds, because waiting clients ask again. */
const cacheControl = 'public, max-age=2';

const maxRounds = 10;

/** Writes the public status of a task, unless a later one is there: states may be delivered in any order, or at once. */
export async function showStatus(
  context: Context,
  { status_key: key, body, state, at }: Shown,
): Promise<void> {
  const { task_id, media, error } = parseObject(body) ?? {};
  const text = JSON.stringify({ task_id, state, media, error, updated_at: at });
  for (let round = 0; round < maxRounds; round += 1) {
    const found = await readText(context, key);
    const known = found && parseObject(found.text)?.state;
    if (isState(known) && !isForward(known, state)) return;
    if (await writeIfMatches(context, { key, text, cacheControl, etag: found?.etag })) return;
  }
  throw new Error(`The status of a task was changed ${maxRounds} times while it was written.`);
}

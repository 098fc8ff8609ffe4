import { sendMessages } from '../aws/queue.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { describeError, log } from '../log.ts';
import { keyOf } from '../store/keys.ts';
import type { LaneName, Owing } from './lanes.ts';

/** Sends messages about items. A message whose try has begun by then is ignored; without tries, it begins another one. */
export async function send(
  context: Context,
  lane: LaneName,
  items: readonly Owing[],
  delaySeconds = 0,
): Promise<void> {
  const messages = items.map((item) => ({
    body: { ...keyOf(item), tries: item.tries },
    group: item.group,
    delaySeconds,
  }));
  await sendMessages(context, config.work().WORK_QUEUES + lane, messages);
}

/** The item is stored and listed, so a failure only delays it. */
export async function sendSoon(
  context: Context,
  lane: LaneName,
  item: Owing,
  delaySeconds = 0,
): Promise<void> {
  await send(context, lane, [item], delaySeconds).catch((error: unknown) =>
    log('warn', 'not_queued', { lane, ...keyOf(item), ...describeError(error) }),
  );
}

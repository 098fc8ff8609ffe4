import { command, UsageError } from '../command.ts';
import { callerOf } from '../spend/caller-name.ts';
import { ApiError } from '../../../lib/errors.ts';
import {
  hashPrefix,
  type NotificationRecord,
  notificationRecord,
  readTask,
  type TaskRecord,
} from '../../../lib/notifications/records.ts';
import { periodOf, periodOptions, secondsOf } from '../spend/period.ts';
import { callerOfPrincipal, findUsage, type Selection } from '../spend/usage.ts';
import { readNotification } from '../../../lib/notifications/provider-notification.ts';
import { slotRecord } from '../../../lib/attempts/slot.ts';
import type { AttemptRecord } from '../../../lib/attempts/attempt.ts';
import { idempotencyKey, notificationsOf } from '../../../lib/store/keys.ts';
import { get, queryAll } from '../../../lib/store/read.ts';
import { newContext } from '../registry/administration.ts';
import { fieldsOf, tableOf } from '../view.ts';
import { usageView } from '../spend/reconcile.ts';

export const show = command({
  parameters: ['id'],
  isDefault: true,
  summary:
    'Show the records of a paid request by its x-request-id, and a command that finds the log lines of any request',
  readsOnly: true,
  notes:
    'Only paid requests leave records. The lines of every request, and so its bans, limits and rejected tokens, are only in the logs: the printed command finds them, and those of its task and notifications. Without --user, up to 1,000 pages of all callers’ records are read, with four queries each.',
  options: {
    ...periodOptions,
    user: { value: 'USER', about: 'Only this user, @anonymous, or the `principal` of log lines' },
  },
  examples: ['request show 7f1c…', `request show 7f1c… --from 2026-11-20 --user 'auth0|1234'`],
  async run({ id }, { from, to, user }) {
    // The printed command is pasted into a shell.
    if (!/^[^"'`$\\\s]+$/.test(id)) throw new UsageError(`"${id}" is not the id of a request.`);
    const period = periodOf(from, to);
    const search = async () => {
      if (user === undefined) return findRequest(id, period);
      const caller = (await callerOfPrincipal(user, period)) ?? callerOf(user);
      return findRequest(id, { ...period, caller });
    };
    const { found, hasMore = false } = (await search().catch(unlessUnavailable)) ?? {};
    const query = queryFor(id, found ?? []);
    const logs = logsCommand(query, period);
    const texts = found?.map(requestText) ?? [];
    if (hasMore)
      texts.push(
        `Only the first ${maxPages} pages of records were read. Give --user: log lines have its hash.`,
      );
    else if (found?.length === 0) texts.push('No record of a paid request has this id on these days.');
    return {
      data: { request_id: id, found: found ?? null, has_more: hasMore, query, logs },
      text: [...texts, `In the logs:\n\n${logs}`].join('\n\n'),
      ...(!found && { problem: 'The table cannot be reached or is overloaded, so no record is shown.' }),
    };
  },
});

/** The logs help most when the table doesn't answer. */
function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== 'unavailable') throw error;
}

function queryFor(id: string, found: readonly FoundRequest[]): string {
  const names = ['request_id', 'gateway_request_id', 'function_request_id', '@requestId'];
  const tasks = found.flatMap(({ usage }) =>
    usage.task_hash === undefined ? [] : `task_hash = '${hashPrefix(usage.task_hash)}'`,
  );
  const filter = [...names.map((name) => `${name} = '${id}'`), ...tasks].join(' or ');
  return `fields @timestamp, @log, @message | filter ${filter} | sort @timestamp`;
}

/** Runs a query over both log groups of the stage, and prints its result. The local stack logs to its terminal. */
function logsCommand(query: string, period: { from: string; to: string }): string {
  const { AWS_ENDPOINT_URL_DYNAMODB, AWS_REGION: region, TABLE_NAME: table } = process.env;
  if (AWS_ENDPOINT_URL_DYNAMODB !== undefined) return query;
  const { start, end } = secondsOf(period);
  const source = `SOURCE logGroups(namePrefix: ['/${table}/functions', '/aws/http-api/${table}'])`;
  return [
    `id=$(aws logs start-query --region ${region} --start-time ${start} --end-time ${end} \\`,
    `  --query-string "${source} | ${query}" --query queryId --output text)`,
    `sleep 10; aws logs get-query-results --region ${region} --query-id "$id" \\`,
    `  --query "results[*].[[?field=='@message'].value | [0]]" --output text`,
  ].join('\n');
}

function requestText({ usage, answer: idempotency_key, task, media, notifications }: FoundRequest): string {
  const { code, credits_told, completed_at, final_state } = usage;
  const notified = task && { address: task.address, state: task.state };
  const outcome = { code, credits_told, completed_at, final_state };
  const about = fieldsOf({ ...usageView(usage), ...outcome, media, idempotency_key, notified });
  const columns = ['id', 'state', 'at', 'result', 'tries', 'last_error'];
  return `${about}\n\n${tableOf(notifications, 'No notification came in.', columns)}`;
}

/** The records of one attempt to buy something. */
interface FoundRequest {
  usage: AttemptRecord;
  /** The state of its Idempotency-Key. The response itself is the caller's. */
  answer: { state: string; expires_at: string } | undefined;
  task: TaskRecord | undefined;
  /** The URLs of the results, from the provider's last notification. */
  media: string[];
  notifications: Pick<NotificationRecord, 'id' | 'state' | 'at' | 'result' | 'tries' | 'last_error'>[];
}

const maxAttempts = 100;
/** Four queries each, and up to 4 MB. */
const maxPages = 1000;

interface Search {
  /** A caller may have chosen the same id for several attempts. */
  found: FoundRequest[];
  hasMore: boolean;
}

async function findRequest(requestId: string, period: Selection): Promise<Search> {
  const { records, hasMore } = await findUsage(period, { requestId }, maxAttempts, maxPages);
  return { found: await Promise.all(records.map(readAround)), hasMore };
}

async function readAround(usage: AttemptRecord): Promise<FoundRequest> {
  const { key_hash, task_hash } = usage;
  const [answer, task, notifications] = await Promise.all([
    key_hash === undefined ? undefined : findAnswer(key_hash),
    task_hash === undefined ? undefined : readTask(newContext(), task_hash),
    task_hash === undefined ? [] : queryAll(newContext(), notificationsOf(task_hash)),
  ]);
  const shown = notifications.map((item) => {
    const { id, state, at, result, tries, last_error } = notificationRecord(item);
    return { id, state, at, result, tries, ...(last_error !== undefined && { last_error }) };
  });
  const last = notifications.map(notificationRecord).at(-1);
  const media = (task && last && readNotification(task.provider, last.body)?.media) ?? [];
  return { usage, answer, task, media, notifications: shown };
}

async function findAnswer(keyHash: string): Promise<FoundRequest['answer']> {
  const record = slotRecord((await get(newContext(), idempotencyKey(keyHash)))[0]);
  const state = record?.bytes ? 'answered' : 'not answered';
  return record && { state, expires_at: new Date(record.expires_at).toISOString() };
}

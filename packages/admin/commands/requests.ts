import { fields, table } from '../../command-line/table.ts';
import { command } from '../command.ts';
import { shownCaller } from '../spend/caller-name.ts';
import { periodOf, periodOptions } from '../spend/period.ts';
import { type FoundRequest, findRequest } from '../spend/requests.ts';

export const show = command({
  parameters: ['id'],
  isDefault: true,
  summary: 'Show everything the service knows of a request, by its x-request-id',
  readsOnly: true,
  notes:
    'Only paid requests leave records. What the logs know is found by the query that is printed, and by the saved queries of the stage.',
  options: periodOptions,
  examples: ['request show 7f1c…', 'request show 7f1c… --from 2026-11-20 --to 2026-11-21'],
  async run({ id }, { from, to }) {
    const found = await findRequest(id, periodOf(from, to));
    const query = `fields @timestamp, @log, @message | filter request_id = "${id}" or gateway_request_id = "${id}" | sort @timestamp`;
    const texts =
      found.length > 0 ? found.map(textOf) : ['No record of a paid request has this id on these days.'];
    return { data: { request_id: id, found, query }, text: [...texts, `In the logs: ${query}`].join('\n\n') };
  },
});

function textOf({ usage, answer, task, notifications }: FoundRequest): string {
  const about = fields({
    Caller: shownCaller(usage.caller),
    Operation: [usage.operation, usage.model].filter(Boolean).join('/'),
    'Recorded, before sending': usage.at,
    State: usage.state,
    Completed: usage.completed_at,
    Credits: `${usage.credits}${usage.is_exact ? '' : ' (reserved or counted in full)'}`,
    'Credits that the provider told': usage.credits_told,
    'Provider ms': usage.ms,
    'Task of the provider': usage.task_id,
    'Ended as': usage.final_state,
    'Idempotency-Key': answer && `${answer.state}, kept until ${answer.expires_at}`,
    'Notifies the caller at': task?.address,
    'Last state notified': task?.state,
  });
  const rows = notifications.map(({ id, state, at, result, attempts, last_error }) => [
    id,
    state,
    at,
    result,
    attempts,
    last_error,
  ]);
  const list = table(['NOTIFICATION', 'STATE', 'CAME IN', 'RESULT', 'ATTEMPTS', 'LAST ERROR'], rows);
  return rows.length > 0 ? `${about}\n\n${list}` : about;
}

import type { Reply } from '@node-registry/registry-client';
import type { Ask } from './account.tsx';
import { Box, Time, Unread, useRead } from './parts.tsx';

const credits = (amount: number) =>
  `${amount.toLocaleString('en-US')} ${amount === 1 ? 'credit' : 'credits'}`;
const day = (before: number) => new Date(Date.now() - before * 86_400_000).toISOString().slice(0, 10);
const shownDays = 30;

/** What the person may spend, has spent by day, and bought. */
export function SpendingView({ ask }: { ask: Ask }) {
  const query = { from: day(shownDays), to: day(0) };
  const spending = useRead(() => ask('getSpending', { query }), 'spending');
  const tasks = useRead(() => ask('listTasks', { query }), 'tasks');
  const problem = spending.problem || tasks.problem;
  if (problem || !spending.data) return <Unread title="Spending" problem={problem} />;
  const { may_spend, reason, limits, today, days } = spending.data;
  const most = limits.credits_per_day;
  return (
    <>
      <h1>Spending</h1>
      {!may_spend && <p class="notice">{reason ?? 'You may not call the image and video operations.'}</p>}
      <div class="figures">
        <Box title="Today">
          <b>{credits(today.credits)}</b>
          <p class="quiet">
            {most > 0 ? `of ${most.toLocaleString('en-US')}; ` : ''}
            {today.tasks} {today.tasks === 1 ? 'task' : 'tasks'}
          </p>
          {most > 0 && <progress value={today.credits} max={most} aria-label="Of today’s limit" />}
        </Box>
        <Box title="By day">
          {days.length === 0 && <p class="quiet">Nothing in {shownDays} days.</p>}
          <dl>
            {days.toReversed().map((each) => (
              <div key={each.day}>
                <dt>{each.day}</dt>
                <dd>
                  {credits(each.credits)}
                  {each.unknown > 0 && `, ${each.unknown} unknown`}
                </dd>
              </div>
            ))}
          </dl>
        </Box>
      </div>
      <h2>Tasks</h2>
      {tasks.data?.tasks.length === 0 && <p class="empty">No task in {shownDays} days.</p>}
      <ul class="plain list">
        {tasks.data?.tasks.map((task) => (
          <Bought key={task.request_id} task={task} />
        ))}
      </ul>
      {tasks.data?.has_more && <p class="quiet">These are the latest 200.</p>}
    </>
  );
}

type Task = Reply<'listTasks'>['tasks'][number];

function Bought({ task }: { task: Task }) {
  const { operation, model, at, payment, credits: cost, final_state, status_url } = task;
  const state = payment === 'taken' ? (final_state ?? 'under way') : payment;
  return (
    <li>
      <span>
        <b>{operation}</b> {model && <span class="quiet">{model}</span>}{' '}
        <span class={`badge ${state === 'success' ? 'good' : state === 'failed' ? 'bad' : ''}`}>{state}</span>
      </span>
      <span class="meta">
        <span>{credits(cost)}</span>
        <Time at={at} />
        {status_url && <a href={status_url}>Its state and films</a>}
      </span>
    </li>
  );
}

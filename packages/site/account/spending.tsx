import type { Reply } from '@node-registry/registry-client';
import { countOf, numberOf } from '../templates/text.ts';
import { type Ask, Box, Time, Unread, useRead } from './parts.tsx';

const shownDays = 30;
const barWidth = 10;
const height = 60;
const dayOf = (before: number) => new Date(Date.now() - before * 86_400_000).toISOString().slice(0, 10);

/** What the person may spend, has spent by day, and bought. */
export function useSpending(ask: Ask) {
  const query = { from: dayOf(shownDays - 1), to: dayOf(0) };
  return useRead(async () => {
    const [spending, bought] = await Promise.all([
      ask('getSpending', { query }),
      ask('listTasks', { query }),
    ]);
    return { ...spending, ...bought };
  }, 'spending');
}

type Read = ReturnType<typeof useSpending>;
type Spending = NonNullable<Read['data']>;

export function SpendingView({ title, spending }: { title: string; spending: Read }) {
  const { data, problem, again } = spending;
  if (!data) return <Unread title={title} problem={problem} again={again} />;
  const { may_spend, reason, days, tasks, has_more } = data;
  return (
    <>
      <h1>{title}</h1>
      {!may_spend && <p class="notice">{reason ?? 'You may not call the image and video operations.'}</p>}
      <Figures spending={data} />
      <Box title="By day">
        {days.length === 0 && <p class="quiet">Nothing in {shownDays} days.</p>}
        <dl>
          {days.toReversed().map((each) => (
            <div key={each.day}>
              <dt>{each.day}</dt>
              <dd>
                {countOf(each.credits, 'credit')}, {countOf(each.tasks, 'task')}
                {each.unknown > 0 && `, ${each.unknown} unknown`}
              </dd>
            </div>
          ))}
        </dl>
      </Box>
      <h2>Tasks</h2>
      {tasks.length === 0 && <p class="empty">No task in {shownDays} days.</p>}
      <ul class="plain list">
        {tasks.map((task) => (
          <Bought key={task.request_id} task={task} />
        ))}
      </ul>
      {has_more && <p class="quiet">These are the latest 200.</p>}
    </>
  );
}

/** Today's share of the limit, the credits by day, and the tasks by state. */
export function Figures({ spending: { limits, today, days, tasks } }: { spending: Spending }) {
  const limit = limits.credits_per_day;
  const most = Math.max(1, ...days.map(({ credits }) => credits));
  const states = tasks.map(stateOf);
  const [done = 0, failed = 0] = [['success'], ['failed', 'rejected']].map(
    (some) => states.filter((state) => some.includes(state)).length,
  );
  return (
    <section class="figures" aria-label="Spending">
      <Box title="Today">
        <b>{countOf(today.credits, 'credit')}</b>
        <p class="quiet">
          {limit > 0 && `of ${numberOf(limit)}; `}
          {countOf(today.tasks, 'task')}
        </p>
        {limit > 0 && <progress value={today.credits} max={limit} aria-label="Of today’s limit" />}
      </Box>
      <Box title="Credits by day">
        <svg
          class="bars"
          viewBox={`0 0 ${shownDays * barWidth} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Credits of the last ${shownDays} days`}
        >
          {Array.from({ length: shownDays }, (_, place) => {
            const day = dayOf(shownDays - 1 - place);
            const credits = days.find((each) => each.day === day)?.credits ?? 0;
            const tall = Math.max(1, (credits / most) * height);
            return (
              <rect
                key={day}
                x={place * barWidth}
                y={height - tall}
                width={barWidth - 2}
                height={tall}
                rx={1.5}
              >
                <title>{`${day}: ${countOf(credits, 'credit')}`}</title>
              </rect>
            );
          })}
        </svg>
      </Box>
      <Box title="Tasks">
        <b>{numberOf(done)} done</b>
        <p class="quiet">
          {numberOf(states.length - done - failed)} under way, {numberOf(failed)} failed
        </p>
      </Box>
    </section>
  );
}

type Task = Reply<'listTasks'>['tasks'][number];

function stateOf({ payment, final_state }: Task): string {
  return payment === 'taken' ? (final_state ?? 'under way') : payment;
}

function Bought({ task }: { task: Task }) {
  const { operation, model, at, credits, status_url } = task;
  const state = stateOf(task);
  return (
    <li>
      <span>
        <b>{operation}</b> {model && <span class="quiet">{model}</span>}{' '}
        <span class={`badge ${state === 'success' ? 'good' : state === 'failed' ? 'bad' : ''}`}>{state}</span>
      </span>
      <span class="meta">
        <span>{countOf(credits, 'credit')}</span>
        <Time at={at} />
        {status_url && <a href={status_url}>Its state and films</a>}
      </span>
    </li>
  );
}

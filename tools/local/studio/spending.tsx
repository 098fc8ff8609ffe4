import type { RegistryClient } from '@node-registry/registry-client';
import { useEffect, useState } from 'preact/hooks';
import type { LoggedRequest } from '../request-log.ts';
import { creditsOf } from './operations.ts';

const barWidth = 10;
const height = 60;
const shownDays = 14;
const dayMs = 86_400_000;

interface Spending {
  /** 0 without a limit. */
  limit: number;
  /** From the oldest day to today. */
  days: { day: string; credits: number; tasks: number }[];
  /** Tasks by state. */
  states: Record<string, number>;
}

/** Read again after each request that may have changed it, and not after those that only read it. */
export function useSpending(registry: RegistryClient, requests: readonly LoggedRequest[]): Spending {
  const [spending, setSpending] = useState<Spending>({ limit: 0, days: [], states: {} });
  const change = requests.find(({ path }) => /^\/(?:proxy|notifications)\//.test(path));
  useEffect(() => {
    // The last state is kept while the stack does not answer.
    readSpending(registry).then(setSpending, () => undefined);
  }, [change?.id]);
  return spending;
}

async function readSpending({ account }: RegistryClient): Promise<Spending> {
  const dayOf = (before: number) => new Date(Date.now() - before * dayMs).toISOString().slice(0, 10);
  const all = Array.from({ length: shownDays }, (_, place) => dayOf(shownDays - 1 - place));
  const query = { from: dayOf(shownDays - 1), to: dayOf(0) };
  const [{ limits, days }, { tasks }] = await Promise.all([
    account('getSpending', { query }),
    account('listTasks', { query }),
  ]);
  const stateOf = ({ payment, final_state }: (typeof tasks)[number]) =>
    payment === 'taken' ? (final_state ?? 'under way') : payment;
  return {
    limit: limits.credits_per_day,
    days: all.map((day) => days.find((each) => each.day === day) ?? { day, credits: 0, tasks: 0 }),
    states: Object.fromEntries([...Map.groupBy(tasks, stateOf)].map(([state, own]) => [state, own.length])),
  };
}

/** What the demo's owner has spent: of today's limit, by day, and its tasks by state. */
export function Figures({ spending: { limit, days, states } }: { spending: Spending }) {
  const today = days.at(-1) ?? { credits: 0, tasks: 0 };
  const most = Math.max(1, ...days.map(({ credits }) => credits));
  const { success = 0, failed = 0, rejected = 0, ...others } = states;
  const underWay = Object.values(others).reduce((sum, count) => sum + count, 0);
  return (
    <section class="figures" aria-label="Spending">
      <div class="box figure">
        <h2>Today</h2>
        <b>{creditsOf(today.credits)}</b>
        <p class="quiet">
          {limit > 0 ? `of ${number(limit)}; ` : ''}
          {tasksOf(today.tasks)}
        </p>
        {limit > 0 && <progress value={today.credits} max={limit} aria-label="Of today’s limit" />}
      </div>
      <div class="box figure">
        <h2>Credits by day</h2>
        <svg
          class="bars"
          viewBox={`0 0 ${days.length * barWidth} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Credits of the last ${days.length} days`}
        >
          {days.map(({ day, credits }, place) => {
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
                <title>{`${day}: ${creditsOf(credits)}`}</title>
              </rect>
            );
          })}
        </svg>
      </div>
      <div class="box figure">
        <h2>Tasks</h2>
        <b>{number(success)} done</b>
        <p class="quiet">
          {number(underWay)} under way, {number(failed + rejected)} failed
        </p>
      </div>
    </section>
  );
}

export function Days({ days, states }: Spending) {
  if (Object.keys(states).length === 0) return <p class="empty">No task in {shownDays} days.</p>;
  const row = ([name, value]: [string, string]) => (
    <div key={name}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
  return (
    <>
      <section class="box">
        <h2>By day</h2>
        <dl>
          {days
            .toReversed()
            .filter(({ credits, tasks }) => credits + tasks > 0)
            .map(({ day, credits, tasks }) => row([day, `${creditsOf(credits)}, ${tasksOf(tasks)}`]))}
        </dl>
      </section>
      <section class="box">
        <h2>Tasks by state</h2>
        <dl>{Object.entries(states).map(([state, count]) => row([state, number(count)]))}</dl>
      </section>
    </>
  );
}

function number(count: number): string {
  return count.toLocaleString('en-US');
}

function tasksOf(count: number): string {
  return `${number(count)} ${count === 1 ? 'task' : 'tasks'}`;
}

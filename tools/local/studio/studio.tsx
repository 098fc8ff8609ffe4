import { createRegistryClient } from '@node-registry/registry-client';
import { Copyable, useHash } from '@node-registry/site/parts';
import { Figures, SpendingView, useSpending } from '@node-registry/site/spending';
import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { LoggedRequest } from '../request-log.ts';
import type { StudioConfig } from '../studio-files.ts';
import { type Fields, type Operation, operations, type PaidCall } from './operations.ts';
import { Registry } from './registry.tsx';
import { Requests } from './requests.tsx';
import { TaskCard } from './task-card.tsx';
import { TaskForm } from './task-form.tsx';
import { orders, type Task, useTasks } from './tasks.ts';

const latest = 6;
const views = ['studio', 'requests', 'spending', 'registry', 'tokens'];

function Studio({ config }: { config: StudioConfig }) {
  const registry = useMemo(() => {
    const [accessToken = ''] = Object.values(config.values);
    const { apiUrl, downloadsUrl } = config;
    return createRegistryClient({ baseUrl: apiUrl, downloadsUrl, accessToken, orders });
  }, [config]);
  // The form's fields come from the same document as the types.
  const groups = registry as unknown as Record<string, Record<string, PaidCall>>;
  const callOf = (name: string) => {
    const [group = '', verb = ''] = operations.find((each) => each.name === name)?.method.split('.') ?? [];
    return groups[group]?.[verb] as PaidCall;
  };
  const { tasks, start, resume } = useTasks(registry);
  const view = useView();
  const { requests, isLive } = useStack();
  const spending = useSpending(registry.account);
  // Not after those that only read it.
  const change = requests.find(({ path }) => /^\/(?:proxy|notifications)\//.test(path));
  useEffect(() => void spending.again(), [change?.id]);
  const [operation, setOperation] = useState<Operation>(operations[0] as Operation);
  const [bodies, setBodies] = useState<Record<string, Fields>>({});
  const bodyOf = ({ name, start: begin }: Operation) => bodies[name] ?? begin(config);
  const setBody = (of: Operation, body: Fields) => setBodies((all) => ({ ...all, [of.name]: body }));

  useEffect(() => {
    for (const task of tasks)
      if (!['success', 'failed'].includes(task.state)) void resume(task, callOf(task.operation));
  }, []);

  const extend = ({ creations: [film] = [] }: Task) => {
    const own = operations.find(({ name }) => name === 'extendVideo') as Operation;
    setBody(own, { ...bodyOf(own), video_creation_id: film?.id, video_url: film?.url });
    setOperation(own);
  };

  return (
    <>
      {!isLive && (
        <p class="notice warn">The local stack does not answer. Start it with npm start; this page waits.</p>
      )}
      {view === 'studio' && (
        <div class="make">
          <h1 class="unseen">Studio</h1>
          <TaskForm
            config={config}
            operation={operation}
            body={bodyOf(operation)}
            onChoose={setOperation}
            onChange={(body) => setBody(operation, body)}
            onSend={(body) => {
              start(operation, callOf(operation.name), body);
              // On a phone, the new task is far below.
              setTimeout(() => document.querySelector('.task')?.scrollIntoView({ block: 'nearest' }));
            }}
          />
          <div class="stack">
            {spending.data && <Figures spending={spending.data} />}
            {tasks.length === 0 && (
              <p class="empty">Your films and pictures appear here. Make the first one.</p>
            )}
            <ul class="tasks" aria-label="Tasks">
              {tasks.map((task) => (
                <TaskCard
                  key={task.order}
                  task={task}
                  onExtend={() => extend(task)}
                  onResume={() => void resume(task, callOf(task.operation))}
                />
              ))}
            </ul>
            <section class="box">
              <h2>Latest requests</h2>
              <Requests requests={requests.filter(isOfPerson).slice(0, latest)} />
            </section>
          </div>
        </div>
      )}
      {view === 'requests' && (
        <>
          <h1>Requests</h1>
          <Requests requests={requests} />
        </>
      )}
      {view === 'spending' && (
        <div class="stack">
          <SpendingView title="Spending of demo-owner" spending={spending} />
        </div>
      )}
      {view === 'registry' && (
        <>
          <h1>Registry</h1>
          <p>
            <a href={config.siteUrl}>Open the registry’s own pages</a>
          </p>
          <Registry registry={registry} config={config} />
        </>
      )}
      {view === 'tokens' && (
        <>
          <h1>Tokens and URLs</h1>
          <div class="values">
            {Object.entries(config.values).map(([name, value]) => (
              <section key={name}>
                <h2>{name}</h2>
                <Copyable text={value} label={name} />
              </section>
            ))}
          </div>
        </>
      )}
    </>
  );
}

/** Neither a provider's nor one by which the studio counts what was spent. */
const isOfPerson = ({ caller, path }: LoggedRequest) => caller !== 'provider' && !path.startsWith('/users/');

/** The part of the studio that the URL names. */
function useView(): string {
  const hash = useHash();
  const view = views.find((each) => `#${each}` === hash) ?? 'studio';
  useEffect(() => {
    for (const link of document.querySelectorAll('.top nav a'))
      if (link.getAttribute('href') === `/#${view}`) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
  }, [view]);
  return view;
}

/** The stack's requests, as they come. */
function useStack() {
  const [requests, setRequests] = useState<LoggedRequest[]>([]);
  const [isLive, setIsLive] = useState(true);
  useEffect(() => {
    const source = new EventSource('/requests');
    source.onopen = () => setIsLive(true);
    source.onerror = () => setIsLive(false);
    source.onmessage = ({ data }) => setRequests(JSON.parse(data));
    return () => source.close();
  }, []);
  return { requests, isLive };
}

const place = document.getElementById('studio');
const config = await (await fetch('/studio.json')).json();
if (place) render(<Studio config={config} />, place);

import '../support/relay.ts';
import { simulation } from '../support/proxies.ts';
import { makeWorld, readItems, worldOf } from './worlds.ts';
import { handler as deliverNotifications } from '../../functions/deliver-notifications.ts';
import { handler as pollProviders } from '../../functions/poll-providers.ts';
import { attemptRecord } from '../../lib/attempts/attempt.ts';
import { type NotificationRecord, notificationRecord, taskHash } from '../../lib/notifications/records.ts';
import type { Item } from '../../lib/store/items.ts';
import { keyOf, taskKey } from '../../lib/store/keys.ts';
import { laneOf } from '../../lib/work/lanes.ts';
import { eventOf } from '../../tools/local/consume-queue.ts';
import { say } from '../support/notified.ts';
import { startReceiver } from '../support/receiver.ts';
import { pathOf, storedTask } from '../support/relay.ts';
import { untilEnd } from '../support/serve.ts';
import { accountOf, countersOf, pay, sweepAfter } from '../support/spending.ts';
import { describeInterleavings } from './cases.ts';
import { command, ended, endpoint, invocation, type Work } from './works.ts';

const user = 'payer';
const receiver = untilEnd(await startReceiver());

/** The provider knows the world by the prompt. */
const buy = (kind: string, headers = {}) =>
  pay(user, 'text-to-video', {
    body: { prompt: `${worldOf().bucket} ${kind}`, callback_url: `${receiver.url}/${worldOf().bucket}` },
    headers,
  });

const path = () => JSON.parse(String(worldOf().known.path));
const report = (state: string): Work => ({
  ...endpoint(() => say(path(), { state, creations: [] })),
  by: 'service',
});

async function waiting(): Promise<NotificationRecord[]> {
  const items = (await readItems()).filter(({ sk }) => String(sk).startsWith('NOTIFICATION#'));
  return items.map(notificationRecord).filter(({ result }) => result === 'pending');
}

/** The queue shows the messages of all notifications that wait. */
async function deliver(id: string) {
  const messages = (await waiting()).map(({ id: notification, pk, sk, tries }) => ({
    id: notification,
    body: JSON.stringify({ pk, sk, tries }),
  }));
  return messages.length === 0
    ? { isDone: true }
    : ended(deliverNotifications(eventOf(messages), invocation(id)));
}

/** The queue shows the message of the task without an end. */
async function poll(id: string) {
  const { pk, sk } = taskKey(taskHash(path().task));
  return ended(
    pollProviders(eventOf([{ id: pk, body: JSON.stringify({ pk, sk, tries: 0 }) }]), invocation(id)),
  );
}

const works: Record<string, Work> = {
  'payment with a key': endpoint(() => buy('keyed', { 'idempotency-key': 'a-key' })),
  payment: endpoint(() => buy('plain')),
  'report of a start': report('processing'),
  'report of an end': report('success'),
  delivery: { by: 'service', run: deliver },
  poll: { by: 'service', run: poll },
  // By a clock that is ten minutes ahead.
  sweep: { by: 'service', run: () => ended(sweepAfter(10)) },
  block: command(`caller block ${user} --reason leaked`),
};

const begun = () =>
  makeWorld(async () => {
    await buy('begun');
    const own = pathOf(simulation.received.at(-1)?.body.callback_url);
    await say(own, { state: 'queueing' });
    return { path: JSON.stringify(own) };
  });

const maxRounds = 5;

/** An item owes its lane while its work is open, and no other. */
function wronglyListed(items: readonly Item[]): boolean {
  const isOpen = ({ sk, result, open }: Item) =>
    String(sk).startsWith('NOTIFICATION#') ? result === 'pending' : sk === 'ACCOUNT' && Number(open ?? 0) > 0;
  const lanes = items.map((item) => laneOf({ ...item, ...keyOf(item) }));
  return items.some(
    (item, place) => lanes[place] !== 'poll' && isOpen(item) !== (lanes[place] !== undefined),
  );
}

async function problems(): Promise<string[]> {
  for (let round = 0; round < maxRounds && (await waiting()).length > 0; round += 1) await deliver('settled');
  for (const minutes of [13, 30]) await sweepAfter(minutes);
  const { bucket } = worldOf();
  const bought = simulation.received.filter(
    ({ body, taskId }) => taskId && String(body.prompt).startsWith(`${bucket} `),
  );
  const keyed = bought.filter(({ body }) => String(body.prompt).endsWith('keyed'));
  const usage = (await readItems())
    .filter(({ pk, n }) => /^USAGE#/.test(String(pk)) && n !== undefined)
    .map(attemptRecord);
  const counted = usage.filter(({ payment }) => payment === 'taken' || payment === 'unknown');
  const { credits = 0 } = countersOf(await accountOf(user));
  const sum = usage.reduce((all, record) => all + record.credits, 0);
  const task = await storedTask(path().task);
  const broken = {
    'a key buys once': keyed.length > 1,
    'the account equals its records': credits !== sum,
    // The task of the world before is not in its copies' prompts.
    'each bought task is in a record': bought.length + 1 > counted.length,
    'no attempt stays open': usage.some(({ payment }) => payment === 'sent'),
    'each notification is delivered': (await waiting()).length > 0,
    'what is owed is listed, and nothing else': wronglyListed(await readItems()),
    'an end stays': task?.state !== 'success' && usage.some(({ final_state }) => final_state === 'success'),
    'a task without an end is polled': task?.state !== 'success' && task?.pending_since === undefined,
  };
  return Object.entries(broken).flatMap(([sentence, isBroken]) => (isBroken ? [sentence] : []));
}

const pairs = Object.keys(works).map((each) => `${each} | ${each}`);

describeInterleavings({ works, worldAfter: begun, problems, pairs });

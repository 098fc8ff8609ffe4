import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readSigningKeys } from '../../lib/notifications/signature.ts';
import { localEnvironment } from '../../tools/local/addresses.ts';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import { verifyNotification } from '../../tools/registry-client/notification.ts';
import { startReceiver } from '../support/receiver.ts';

let stack: LocalStack;
const receiver = await startReceiver();

beforeAll(async () => {
  process.env.NOTIFICATIONS = 'relay';
  stack = await startLocalStack();
}, 60_000);

afterAll(() => Promise.all([stack.stop(), receiver.stop()]));

interface Simulated {
  received: { body: Record<string, string> }[];
  tasks: { id: string; notifications: { state: string; answer: number | string }[] }[];
}

async function simulated(): Promise<Simulated> {
  return (await (await fetch(`${stack.simulatorsUrl}/control/record`)).json()) as Simulated;
}

function post(path: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${stack.token('OWNER')}` };
  return fetch(stack.apiUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

const callback_url = `${receiver.url}/hook`;

describe('NOTIFICATIONS=relay npm start', () => {
  test('has the simulated provider notify the local API of each state, and takes every call', async () => {
    const answer = await post('/proxy/video-provider/text2video', { model: 'vidq3-pro', callback_url });
    const { task_id } = (await answer.json()) as { task_id: string };
    let last: Simulated['tasks'][number] | undefined;
    for (let turn = 0; turn < 100 && (last?.notifications.length ?? 0) < 3; turn += 1) {
      await pause(200);
      last = (await simulated()).tasks.find(({ id }) => id === task_id);
    }
    const { received } = await simulated();

    expect(last?.notifications).toEqual([
      { state: 'queueing', answer: 200 },
      { state: 'processing', answer: 200 },
      { state: 'success', answer: 200 },
    ]);
    expect(received.at(-1)?.body.callback_url).toMatch(
      new RegExp(`^${stack.apiUrl}/notifications/video/[\\w-]{43}$`),
    );
  }, 30_000);

  test('notifies the caller of each state, signed with the local key', async () => {
    for (let turn = 0; turn < 50 && receiver.received.length < 3; turn += 1) await pause(200);
    const [key] = readSigningKeys(localEnvironment.NOTIFICATION_SIGNING_KEY);
    const verified = await Promise.all(
      receiver.received.map(({ headers, body }) => verifyNotification(headers, body, String(key?.publicKey))),
    );

    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook']);
    expect(verified.map(({ payload }) => (payload as { state: string }).state)).toEqual([
      'queueing',
      'processing',
      'success',
    ]);
    expect(new Set(verified.map(({ id }) => id)).size).toBe(3);
  }, 20_000);

  test('answers a forged call as any unknown path', async () => {
    const forged = await post(`/notifications/video/${'A'.repeat(43)}`, { state: 'success' });
    const unknown = await post('/nowhere', {});
    const bodies = [await forged.json(), await unknown.json()] as Record<string, string>[];

    expect([forged.status, unknown.status]).toEqual([404, 404]);
    for (const body of bodies) delete body.request_id;
    expect(bodies[0]).toEqual(bodies[1]);
  });
});

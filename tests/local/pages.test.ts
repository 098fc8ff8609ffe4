import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import {
  type NotificationRecord,
  type TaskRecord,
  ticketHash,
  ttlFrom,
} from '../../lib/notifications/records.ts';
import { reserve } from '../../lib/spend/reservation.ts';
import { readSigningKeys, signatureHeaders } from '../../lib/notifications/signature.ts';
import { absent } from '../../lib/store/items.ts';
import { notificationKey, ticketKey } from '../../lib/store/keys.ts';
import { put } from '../../lib/store/write.ts';
import { clearLimits, setLimits } from '../../tools/admin/spend/terms.ts';
import { localEnvironment } from '../../tools/local/addresses.ts';
import { startPages } from '../../tools/local/pages.ts';
import { type Simulators, startSimulators } from '../../tools/simulators/start-simulators.ts';
import { stopDate } from '../support/clock.ts';
import { writeNotification } from '../support/notifications.ts';
import '../support/in-order.ts';

jest.setTimeout(60_000);

let simulators: Simulators;
let pages: Awaited<ReturnType<typeof startPages>>;

beforeAll(async () => {
  simulators = await startSimulators();
  const parts = { 'HTTP API': 'http://127.0.0.1:1', 'Provider simulators': simulators.url };
  pages = await startPages({
    port: 0,
    parts,
    tokens: { olga: 'owner-token</script>', mats: 'member-token' },
    requests: { latest: () => [] },
    relays: true,
  });
});

// What did not start must not keep the rest running.
afterAll(() => Promise.all([pages?.stop(), simulators?.stop()]));

/** With a Host header of any kind, which fetch does not send. */
function ask(
  method: string,
  path: string,
  { body = '', host = 'localhost', origin }: { body?: string; host?: string; origin?: string } = {},
) {
  const headers = { host, ...(origin !== undefined && { origin }) };
  return new Promise<{ status: number; type: string; location: string; body: string }>((resolve, reject) => {
    const outgoing = request(`${pages.url}${path}`, { method, headers }, async (answer) => {
      const { 'content-type': type = '', location = '' } = answer.headers;
      resolve({ status: answer.statusCode ?? 0, type, location, body: await text(answer) });
    });
    outgoing.on('error', reject).end(body);
  });
}

describe('the home page', () => {
  const body = '{"id":"17","state":"success"}';
  const received = async () => JSON.parse((await ask('GET', '/state')).body).notifications;

  test('shows what the service notifies it of, and that it is signed', async () => {
    const keys = readSigningKeys(localEnvironment.NOTIFICATION_SIGNING_KEY);
    const headers = signatureHeaders(keys, { id: 'msg_1', body });
    await fetch(`${pages.url}/callbacks`, { method: 'POST', headers, body });
    await fetch(`${pages.url}/callbacks`, { method: 'POST', headers, body: body.replace('17', '18') });

    expect(await received()).toMatchObject([
      { id: 'msg_1', task: '18', signature: 'wrong_signature' },
      { id: 'msg_1', task: '17', state: 'success', signature: 'valid' },
    ]);
  });

  test("shows a provider's notifications, unsigned ones and invalid JSON included", async () => {
    await fetch(`${pages.url}/callbacks`, {
      method: 'POST',
      body: '{"data":{"task_id":"9","status":"COMPLETED"}}',
    });
    await fetch(`${pages.url}/callbacks`, { method: 'POST', body: 'no JSON' });
    const [unreadable, relighted] = await received();

    expect(unreadable).toEqual({ at: expect.any(String), task: 'unknown', state: 'unknown' });
    expect(relighted).toEqual({ at: expect.any(String), task: '9', state: 'COMPLETED' });
  });
});

describe('the local pages', () => {
  test.each([
    ['/', 'text/html; charset=utf-8'],
    ['/demo.zip?version=1.0.0', 'application/zip'],
    ['/openapi.json', 'application/json'],
    ['/site/index.html', 'text/html; charset=utf-8'],
    ['/state', 'application/json'],
    ['/reference/', 'text/html; charset=utf-8'],
    ['/reference/openapi.json', 'application/json'],
    ['/reference/form.js', 'text/javascript; charset=utf-8'],
  ])('serve %s as %s', async (path, type) => {
    const answer = await ask('GET', path);

    expect(answer).toMatchObject({ status: 200, type });
    expect(answer.body.length).toBeGreaterThan(100);
  });

  test('keep the token of the reference page inside its field', async () => {
    const { body } = await ask('GET', '/reference/');

    expect(body).toContain('<html lang="en">');
    expect(body).toContain('value="owner-token&lt;/script&gt;"');
  });

  test('report which parts of the stack listen, and whose tokens there are', async () => {
    const { parts, tokens } = JSON.parse((await ask('GET', '/state')).body);

    expect(parts.map(({ isUp }: { isUp: boolean }) => isUp)).toEqual([false, true]);
    expect(Object.keys(tokens)).toEqual(['olga', 'mats']);
  });

  test('report armed faults, and those left after a call', async () => {
    const simulated = async () => JSON.parse((await ask('GET', '/state')).body).simulators;
    const armed = { provider: 'video', kind: 'status', status: 503, times: 2 };
    await ask('POST', '/simulators/misbehave', { body: JSON.stringify(armed) });

    expect(await simulated()).toEqual({ credits: 1_000_000, armed: [armed], tasks: [] });
    await fetch(`${simulators.url}/video/text2video`, { method: 'POST', body: '{}' });
    expect((await simulated()).armed).toEqual([{ ...armed, times: 1 }]);
    await ask('POST', '/simulators/reset', { body: '{}' });
    expect((await simulated()).armed).toEqual([]);
  });

  test('pass commands on to the simulators', async () => {
    const body = JSON.stringify({ credits: 7 });
    const answer = await ask('POST', '/simulators/credits', { body });

    expect(answer.status).toBe(200);
    expect(simulators.simulation.credits).toBe(7);
  });

  test.each([
    ['POST', '/callbacks', 204],
    ['GET', '/reference', 301],
    ['GET', '/nowhere', 404],
    ['POST', '/', 404],
    ['GET', '/simulators/record', 404],
  ])('answer %s %s with %i', async (method, path, status) => {
    const answer = await ask(method, path);

    expect([answer.status, answer.location]).toEqual([status, status === 301 ? '/reference/' : '']);
  });

  test.each(['localhost:3004', '127.0.0.1', '[::1]:3004'])('answer the local name %s', async (host) => {
    expect((await ask('GET', '/state', { host })).status).toBe(200);
  });

  test.each(['pages.example.com', 'localhost.example.com:3004'])(
    'reject the foreign name %s, which could read the token',
    async (host) => {
      const { status, body } = await ask('GET', '/state', { host });

      expect([status, body]).toEqual([421, '']);
    },
  );

  test.each([
    ['http://pages.example.com', 403],
    ['null', 403],
    ['http://localhost:1', 403],
    ['http://localhost', 204],
  ])('answer a change that %s asks for with %i', async (origin, expected) => {
    expect((await ask('POST', '/callbacks', { origin })).status).toBe(expected);
  });
});

describe('the records of the home page', () => {
  const read = async () => JSON.parse((await ask('GET', '/records')).body);

  test('contain the used part of the callers’ limits', async () => {
    const usage = async () => (await read()).callers.find(({ user }: { user: string }) => user === 'mats');
    stopDate();
    await setLimits('user:mats', { credits_per_day: 5, tasks_per_day: 0 });
    await reserve({ deadline: Date.now() + 5000 }, { caller: 'user:mats', ceiling: 5 });

    expect(await usage()).toEqual({
      ...{ user: 'mats', has_own_limits: true },
      windows: [
        { limit: 'credits_per_day', used: 5, max: 5 },
        { limit: 'tasks_per_day', used: 1 },
        { limit: 'requests_per_minute', used: expect.any(Number) },
      ],
    });
    await clearLimits('user:mats');
    expect(await usage()).toMatchObject({
      has_own_limits: false,
      windows: [{ limit: 'credits_per_day', used: 5 }, {}, {}],
    });
  });

  /** A task of the nth day with so many notifications. */
  async function addTask(day: number, sequence: number): Promise<string> {
    const hash = ticketHash(`ticket ${day}`);
    const [at, now] = [`2999-01-${String(day).padStart(2, '0')}T00:00:00.000Z`, Date.now()];
    const task: TaskRecord = {
      ...ticketKey(hash),
      ...{ at, provider: 'video', operation: 'generateVideoFromText', caller: 'user:olga', sequence },
      ...{ address: 'https://a.example/', task_id: `task-${day}`, state: 'success' },
      ...{ revision: 1, ttl: ttlFrom(now) },
    };
    await put({ deadline: now + 5000 }, task, absent);
    return hash;
  }

  test('contain the newest tasks whose callers were notified, with how each delivery went, and no bodies', async () => {
    for (let day = 1; day <= 10; day += 1) await addTask(day, 1);
    const hash = await addTask(11, 3);
    await addTask(12, 0);
    const deliveries: Partial<NotificationRecord>[] = [
      { state: 'queueing', result: 'delivered', attempts: 2, delivered_at: '2999-01-11' },
      {
        state: 'processing',
        attempts: 1,
        pending_since: '2999',
        last_error: 'answered_no',
        last_status: 503,
      },
      { result: 'failed', attempts: 8, pending_since: '2999', last_error: 'timed_out' },
    ];
    for (const [index, changes] of deliveries.entries())
      await writeNotification('https://a.example/', {
        ...notificationKey(hash, index + 1),
        ...{ id: `msg_${index + 1}`, ...changes },
      });
    const { notified } = await read();

    expect(notified.map(({ task_id }: { task_id: string }) => task_id)).toEqual(
      [11, 10, 9, 8, 7, 6, 5, 4].map((day) => `task-${day}`),
    );
    const failed = { last_error: 'answered_no', last_status: 503 };
    expect(notified[0]).toEqual({
      ...{ at: '2999-01-11T00:00:00.000Z', operation: 'generateVideoFromText', caller: 'olga' },
      ...{ address: 'https://a.example/', task_id: 'task-11', state: 'success' },
      notifications: [
        {
          ...{ id: 'msg_1', state: 'queueing', result: 'delivered', attempts: 2 },
          delivered_at: '2999-01-11',
        },
        {
          ...{ id: 'msg_2', state: 'processing', result: 'pending', attempts: 1 },
          ...{ next_attempt_at: '2999', ...failed },
        },
        { id: 'msg_3', state: 'success', result: 'failed', attempts: 8, last_error: 'timed_out' },
      ],
    });
  });
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import { notificationsOf, pathOf, storedTask, unknownTicket } from '../support/relay.ts';
import { type ProxyName, simulation } from '../support/proxies.ts';
import { handler } from '../../functions/receive-notification.ts';
import { handler as unknownRoute } from '../../functions/unknown-route.ts';
import { pendingIndex, usageKey } from '../../lib/store/keys.ts';
import { query } from '../../lib/store/read.ts';
import { dynamodb } from '../../lib/store/table.ts';
import { remove } from '../../lib/store/write.ts';
import { callerHash } from '../../lib/caller.ts';
import { beforeNext, intercept } from '../support/intercept.ts';
import { invoke } from '../support/invoke.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { countRequests, setFields } from '../support/registry.ts';
import { pay, spender, usageOf } from '../support/spending.ts';

interface Path {
  provider: string;
  ticket: string;
}

const hook = 'https://caller.example.com/hook';

/** Starts a task whose caller wants notifications, and returns what the provider may call. */
async function started(name: ProxyName = 'text-to-video', user?: string): Promise<Path> {
  const field = name === 'relight-image' ? 'webhook_url' : 'callback_url';
  await pay(user ?? (await spender()), name, { body: { [field]: hook } });
  return pathOf(simulation.received.at(-1)?.body[field]);
}

type Changes = Parameters<typeof invoke>[2];

function say(path: Path, body: object, changes: Changes = {}) {
  return invoke(handler, 'receive-notification', { path: { ...path }, body, ...changes });
}

async function everythingOf({ ticket }: Path) {
  return { task: await storedTask(ticket), notifications: await notificationsOf(ticket) };
}

function lastLine(): Record<string, unknown> {
  return JSON.parse(String(loggedLines.at(-1)));
}

beforeEach(() => {
  loggedLines.length = 0;
});

describe('POST /notifications/{provider}/{ticket}', () => {
  describe('200', () => {
    test.each<[ProxyName, object, string]>([
      ['text-to-video', { state: 'created' }, 'created'],
      ['text-to-video', { state: 'queueing' }, 'queueing'],
      ['extend-video', { state: 'processing' }, 'processing'],
      ['multiframe-video', { state: 'success' }, 'success'],
      ['multiframe-video', { state: 'FAILED' }, 'failed'],
      ['text-to-video', { data: { state: 'processing' } }, 'processing'],
      ['relight-image', { status: 'CREATED' }, 'created'],
      ['relight-image', { status: 'in_progress' }, 'processing'],
      ['relight-image', { data: { status: 'Completed' } }, 'success'],
      ['relight-image', { status: 'FAILED' }, 'failed'],
    ])('is the answer to %s and %j, which is kept as %s', async (name, body, state) => {
      const path = await started(name);
      const { status, text, headers } = await say(path, body);

      expect([status, text]).toEqual([200, '{}']);
      expect(headers).toEqual({
        'content-type': 'application/json',
        'x-request-id': 'sample-receive-notification',
      });
      expect(await storedTask(path.ticket)).toMatchObject({ state, sequence: 1 });
    });

    test('comes after the notification is stored, with the body as it came, due at once', async () => {
      const path = await started();
      const rawBody = '{ "id":"12", "state" : "processing",\n"n":1.50, "text":"\\u00e9 é" }';
      const before = new Date().toISOString();
      await say(path, {}, { rawBody, headers: { 'content-type': 'application/json; charset=utf-8' } });
      const { task, notifications } = await everythingOf(path);

      expect(task).toMatchObject({ state: 'processing', sequence: 1, revision: 2, task_id: '12' });
      const hash = String(task?.pk.slice('TICKET#'.length));
      const [notification] = notifications;
      expect(notifications).toEqual([
        {
          pk: task?.pk,
          sk: 'NOTIFICATION#0001',
          id: `msg_${hash.slice(0, 24)}_1`,
          address: hook,
          body: rawBody,
          content_type: 'application/json; charset=utf-8',
          state: 'processing',
          at: notification?.pending_since,
          attempts: 0,
          pending_shard: `notify-${hash.slice(0, 1)}`,
          pending_since: expect.any(String),
          result: 'pending',
          ttl: expect.any(Number),
        },
      ]);
      expect(String(notification?.pending_since) >= before).toBe(true);
      expect(await dueIn(String(notification?.pending_shard))).toContain(task?.pk);
    });

    test.each([
      [
        'base64',
        (body: string) => ({ rawBody: Buffer.from(body).toString('base64'), isBase64Encoded: true }),
      ],
      ['text', (body: string) => ({ rawBody: body })],
    ])('is the answer to a body of exactly 64 KB that comes as %s', async (_, changes) => {
      const path = await started();
      const body = JSON.stringify({ state: 'success', text: '' });
      const padded = body.replace('""', `"${'x'.repeat(64 * 1024 - body.length)}"`);
      const { status } = await say(path, {}, changes(padded));

      expect(status).toBe(200);
      expect((await notificationsOf(path.ticket)).map((each) => each.body === padded)).toEqual([true]);
    });

    test('keeps the task in each state once, and the final one for good', async () => {
      const path = await started();
      const states = [
        'queueing',
        'created',
        'queueing',
        'processing',
        'queueing',
        'success',
        'failed',
        'success',
      ];
      for (const state of states) expect((await say(path, { state })).status).toBe(200);
      const { task, notifications } = await everythingOf(path);

      expect(notifications.map(({ state, sk }) => [sk, state])).toEqual([
        ['NOTIFICATION#0001', 'queueing'],
        ['NOTIFICATION#0002', 'processing'],
        ['NOTIFICATION#0003', 'success'],
      ]);
      expect(task).toMatchObject({ state: 'success', sequence: 3, revision: 4 });
    });

    test('changes nothing for a state that does not move the task on', async () => {
      const path = await started();
      await say(path, { state: 'processing', id: 'a' });
      const before = await everythingOf(path);
      const { requests } = await countRequests(() => say(path, { state: 'created', id: 'b' }));

      expect(await everythingOf(path)).toEqual(before);
      expect(requests).toEqual(['BatchGetItemCommand']);
      expect(lastLine()).toMatchObject({ status: 200, notification: 'repeated', task_state: 'created' });
    });

    test('writes each state once however many calls come at the same moment', async () => {
      const path = await started();
      const states = ['created', 'queueing', 'processing', 'success', 'failed'];
      const calls = [...states, ...states, ...states, ...states].map((state) => say(path, { state }));
      const answers = await Promise.all(calls);
      const { task, notifications } = await everythingOf(path);

      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const order = ['created', 'queueing', 'processing', 'final'];
      const places = notifications.map(({ state }) =>
        order.indexOf(/success|failed/.test(state) ? 'final' : state),
      );
      expect(places).toEqual([...new Set(places)].sort());
      expect(notifications.map(({ sk }) => Number(sk.slice(-4)))).toEqual(
        places.map((_, index) => index + 1),
      );
      expect(task).toMatchObject({ sequence: notifications.length, state: notifications.at(-1)?.state });
    });

    test('decides again when another call came between its read and its write', async () => {
      const path = await started();
      const raced = beforeNext(dynamodb, /^TransactWrite/, () => say(path, { state: 'success' }));
      await say(path, { state: 'processing' });

      expect(raced.happened()).toBe(true);
      expect((await notificationsOf(path.ticket)).map(({ state }) => state)).toEqual(['success']);
    });

    test('writes the final state and its time into the usage record, and no other state', async () => {
      const user = await spender();
      const path = await started('text-to-video', user);
      await say(path, { state: 'processing' });
      const [before] = await usageOf(user);
      await say(path, { state: 'failed' });
      const [after] = await usageOf(user);
      const [, last] = await notificationsOf(path.ticket);

      expect(before).not.toHaveProperty('final_state');
      expect(after).toMatchObject({ state: 'taken', credits: 20, final_state: 'failed', final_at: last?.at });
    });

    test('does not need the usage record', async () => {
      const user = await spender();
      const path = await started('text-to-video', user);
      const task = await storedTask(path.ticket);
      const key = usageKey(callerHash(`user:${user}`), String(task?.attempt));
      await remove(key, [['pk', 'exists']], Date.now() + 5000);
      const { status } = await say(path, { state: 'success' });

      expect(status).toBe(200);
      expect(await notificationsOf(path.ticket)).toHaveLength(1);
      expect(await usageOf(user)).toEqual([]);
    });

    test.each([
      ['absent', undefined],
      ['with control characters', 'text/plain\r\nx: y'],
      ['too long', `application/${'x'.repeat(200)}`],
    ])('replaces a content type that is %s', async (_, type) => {
      const path = await started();
      await say(path, { state: 'created' }, { headers: { 'content-type': type } });

      expect((await notificationsOf(path.ticket))[0]?.content_type).toBe('application/json');
    });
  });

  describe('404', () => {
    const wrong: [string, string, (path: Path) => { path?: Path; body?: object; changes?: Changes }][] = [
      ['an unknown ticket', 'unknown_ticket', (path) => ({ path: { ...path, ticket: unknownTicket() } })],
      [
        'the ticket of the other provider',
        'unknown_ticket',
        (path) => ({
          path: { ...path, provider: 'image' },
          body: { state: 'success', status: 'COMPLETED' },
        }),
      ],
      ['a provider that does not exist', 'provider', (path) => ({ path: { ...path, provider: 'audio' } })],
      ['a short ticket', 'ticket', (path) => ({ path: { ...path, ticket: path.ticket.slice(1) } })],
      ['a long ticket', 'ticket', (path) => ({ path: { ...path, ticket: `${path.ticket}A` } })],
      [
        'a ticket of other characters',
        'ticket',
        (path) => ({ path: { ...path, ticket: `${path.ticket.slice(1)}+` } }),
      ],
      ['an empty ticket', 'ticket', (path) => ({ path: { ...path, ticket: '' } })],
      ['no state', 'state', () => ({ body: { id: '1' } })],
      ['an unknown state', 'state', () => ({ body: { state: 'paused' } })],
      ['a state that is the name of a property', 'state', () => ({ body: { state: 'constructor' } })],
      ['a state that is no text', 'state', () => ({ body: { state: ['success'] } })],
      ['the other provider’s field', 'state', () => ({ body: { status: 'COMPLETED' } })],
      ['an empty body', 'state', () => ({ changes: { rawBody: '' } })],
      ['no JSON', 'state', () => ({ changes: { rawBody: 'state=success' } })],
      ['JSON with a byte order mark', 'state', () => ({ changes: { rawBody: '\uFEFF{"state":"success"}' } })],
      ['a list', 'state', () => ({ changes: { rawBody: '[{"state":"success"}]' } })],
      ['null', 'state', () => ({ changes: { rawBody: 'null' } })],
      ['more than 64 KB', 'too_large', () => ({ body: { state: 'success', text: 'x'.repeat(64 * 1024) } })],
      [
        'more than 64 KB of long characters',
        'too_large',
        () => ({
          body: { state: 'success', text: 'é'.repeat(33 * 1024) },
        }),
      ],
      [
        'more than 64 KB as base64',
        'too_large',
        () => ({
          changes: { rawBody: Buffer.alloc(65 * 1024, ' ').toString('base64'), isBase64Encoded: true },
        }),
      ],
      ['5 MB', 'too_large', () => ({ body: { state: 'success', text: 'x'.repeat(5_000_000) } })],
      [
        'bytes that are not UTF-8',
        'not_utf8',
        () => ({
          changes: {
            rawBody: Buffer.from('{"state":"success\xff"}', 'latin1').toString('base64'),
            isBase64Encoded: true,
          },
        }),
      ],
      [
        'half a character',
        'not_utf8',
        () => ({ changes: { rawBody: '{"state":"success","text":"\ud800"}' } }),
      ],
    ];

    test.each(wrong)(
      'is the answer to %s, as for any unknown path, and changes nothing',
      async (_, reason, make) => {
        const path = await started();
        await say(path, { state: 'queueing' });
        const before = await everythingOf(path);
        const { path: called = path, body = { state: 'success' }, changes = {} } = make(path);
        const { result, requests } = await countRequests(() => say(called, body, changes));
        const line = lastLine();
        const elsewhere = await invoke(unknownRoute, 'unknown-route', {
          headers: { 'x-request-id': 'sample-receive-notification' },
        });

        expect(result).toEqual(elsewhere);
        expect(line).toMatchObject({ status: 404, code: 'route_not_found', reason });
        expect(await everythingOf(path)).toEqual(before);
        expect(requests).toEqual(reason === 'unknown_ticket' ? ['BatchGetItemCommand'] : []);
      },
    );

    test('is the answer for a task that has expired but is not deleted yet', async () => {
      const path = await started();
      const task = await storedTask(path.ticket);
      await setFields(task ?? { pk: '', sk: '' }, { ttl: Math.floor(Date.now() / 1000) - 1 });
      const { status } = await say(path, { state: 'success' });

      expect([status, lastLine().reason]).toEqual([404, 'unknown_ticket']);
      expect(await notificationsOf(path.ticket)).toEqual([]);
    });

    test('is the answer where the event has no headers and no path', async () => {
      const { status } = await invoke(handler, 'unknown-route');

      expect([status, lastLine().reason]).toEqual([404, 'provider']);
    });
  });

  describe('5xx', () => {
    test.each(['BatchGetItemCommand', 'TransactWriteItemsCommand'])(
      'is the answer while the store fails at %s, so that the provider calls again',
      async (failing) => {
        const path = await started();
        const repair = intercept(dynamodb, ({ command, send }) => {
          if (command === failing) throw Object.assign(new Error('down'), { name: 'InternalServerError' });
          return send();
        });
        const failed = await say(path, { state: 'success' });
        repair();
        const again = await say(path, { state: 'success' });

        expect([failed.status, failed.headers['retry-after']]).toEqual([503, '1']);
        expect(again.status).toBe(200);
        expect(await notificationsOf(path.ticket)).toHaveLength(1);
      },
      20_000,
    );

    test('after a write whose answer was lost leads to one notification when the provider calls again', async () => {
      const path = await started();
      const repair = intercept(dynamodb, async ({ command, send }) => {
        const output = await send();
        if (command === 'TransactWriteItemsCommand') throw new Error('the answer was lost');
        return output;
      });
      const failed = await say(path, { state: 'success' });
      repair();
      const again = await say(path, { state: 'success' });

      expect([failed.status, again.status]).toEqual([500, 200]);
      expect(await notificationsOf(path.ticket)).toHaveLength(1);
    });
  });

  test('leaves one log line, with the beginning of the hash and without the ticket or the path', async () => {
    const path = await started();
    const task = await storedTask(path.ticket);
    loggedLines.length = 0;
    await say(path, { state: 'success' });

    expect(loggedLines.map((line) => JSON.parse(line))).toEqual([
      {
        level: 'info',
        event: 'request',
        request_id: 'sample-receive-notification',
        function: 'receiveNotification',
        route: 'POST /notifications/{provider}/{ticket}',
        notification: 'written',
        ticket_hash: task?.pk.slice('TICKET#'.length, 'TICKET#'.length + 16),
        task_state: 'success',
        status: 200,
        ms: expect.any(Number),
      },
    ]);
  });
});

async function dueIn(shard: string): Promise<unknown[]> {
  const found: unknown[] = [];
  const range = { index: pendingIndex, partition: ['pending_shard', shard] as [string, string] };
  for await (const page of query({ ...range, sort: ['pending_since', 'between', '2000', '3000'] }))
    found.push(...page.map(({ pk }) => pk));
  return found;
}

import { describe, expect, test } from '@jest/globals';
import { notificationsOf, pathOf, storedTask } from '../../support/relay.ts';
import { misbehave, proxyNames, type ProxyName, simulation } from '../../support/proxies.ts';
import { dynamodb } from '../../../lib/store/table.ts';
import { intercept } from '../../support/intercept.ts';
import { sampleBody } from '../../support/invoke.ts';
import { loggedLines } from '../../support/logged-lines.ts';
import { countRequests } from '../../support/registry.ts';
import { accountOf, countersOf, pay, spender, usageOf } from '../../support/spending.ts';

const fieldOf = (name: ProxyName) => (name === 'relight-image' ? 'webhook_url' : 'callback_url');
const hook = 'https://caller.example.com/hook?of=7';

/** Pays for a task whose caller wants notifications. */
async function payRelayed(user: string, name: ProxyName = 'text-to-video', headers = {}) {
  const result = await pay(user, name, { body: { [fieldOf(name)]: hook }, headers });
  return { ...result, sent: simulation.received.at(-1)?.body ?? {} };
}

function ticketSentTo(name: ProxyName): { provider: string; ticket: string } {
  return pathOf(simulation.received.at(-1)?.body[fieldOf(name)]);
}

describe('a paid request whose caller gives an address, where notifications are relayed', () => {
  test.each(proxyNames)(
    '%s gives the provider an address of ours, and changes nothing else',
    async (name) => {
      const { status, sent } = await payRelayed(await spender(), name);
      const relayed = pathOf(sent[fieldOf(name)]);
      simulation.reset();
      await pay(await spender(), name);

      expect(status).toBe(200);
      expect(relayed.provider).toBe(name === 'relight-image' ? 'image' : 'video');
      const { [fieldOf(name)]: _, ...rest } = sent;
      expect(rest).toEqual(simulation.received[0]?.body);
    },
  );

  test.each(proxyNames)('%s leaves a record of its task, found by the hash of its ticket', async (name) => {
    const user = await spender();
    const before = Date.now();
    await payRelayed(user, name);
    const { provider, ticket } = ticketSentTo(name);
    const [usage] = await usageOf(user);

    const task = await storedTask(ticket);
    expect(task).toEqual({
      pk: expect.stringMatching(/^TICKET#[0-9a-f]{64}$/),
      sk: 'TASK',
      at: expect.any(String),
      provider,
      operation: usage?.operation,
      caller: `user:${user}`,
      address: hook,
      attempt: usage?.sk.slice(usage.sk.indexOf('#') + 1),
      sequence: 0,
      revision: 1,
      ttl: expect.any(Number),
      write_id: expect.any(String),
    });
    const days = (Number(task?.ttl) * 1000 - before) / 86_400_000;
    expect(days).toBeGreaterThanOrEqual(14);
    expect(days).toBeLessThan(14.01);
    expect(await notificationsOf(ticket)).toEqual([]);
  });

  test('may have an address on localhost where the environment accepts those', async () => {
    const { status } = await pay(await spender(), 'text-to-video', {
      body: { callback_url: 'http://localhost:9999/hook' },
    });
    const task = await storedTask(ticketSentTo('text-to-video').ticket);

    expect([status, task?.address]).toEqual([200, 'http://localhost:9999/hook']);
  });

  test('gets another ticket each time, which is stored and answered nowhere', async () => {
    const stored: string[] = [];
    intercept(dynamodb, ({ input, send }) => {
      stored.push(JSON.stringify(input));
      return send();
    });
    const answers = [await payRelayed(await spender()), await payRelayed(await spender())];
    const tickets = answers.map(({ sent }) => pathOf(sent.callback_url).ticket);

    expect(tickets[0]).not.toBe(tickets[1]);
    for (const ticket of tickets) {
      expect(stored.filter((input) => input.includes(ticket))).toEqual([]);
      expect(answers.filter(({ text }) => text.includes(ticket))).toEqual([]);
    }
    expect(stored.some((input) => input.includes(hook))).toBe(true);
  });

  test.each(proxyNames)('%s costs one write more than the same request without an address', async (name) => {
    const user = await spender();
    await pay(user, name);
    const without = await countRequests(() => pay(user, name));
    const relayed = await countRequests(() => payRelayed(user, name));

    expect(relayed.requests.sort()).toEqual([...without.requests, 'PutItemCommand'].sort());
    expect(relayed.result.status).toBe(200);
  });

  test('leaves the beginning of the ticket’s hash in its log line, as the calls of its provider do', async () => {
    await payRelayed(await spender());
    const task = await storedTask(ticketSentTo('text-to-video').ticket);
    const line = loggedLines.map((text) => JSON.parse(text)).findLast(({ event }) => event === 'request');

    expect(line.ticket_hash).toBe(task?.pk.slice('TICKET#'.length, 'TICKET#'.length + 16));
  });

  test('is recorded before it is sent', async () => {
    const order: string[] = [];
    intercept(dynamodb, async ({ input, send }) => {
      const output = await send();
      if (JSON.stringify(input).includes('TICKET#')) order.push(`stored, ${simulation.received.length} sent`);
      return output;
    });
    await payRelayed(await spender());

    expect(order).toEqual(['stored, 0 sent']);
  });

  test('is not sent, is not counted and may be repeated with its key if the record cannot be stored', async () => {
    const user = await spender({ credits_per_day: 1000 });
    const remove = intercept(dynamodb, ({ input, send }) => {
      if (JSON.stringify(input).includes('TICKET#'))
        throw Object.assign(new Error('down'), { name: 'InternalServerError' });
      return send();
    });
    const failed = await payRelayed(user, 'text-to-video', { 'idempotency-key': 'k1' });
    remove();
    const sent = simulation.received.length;

    expect([failed.status, failed.body.error, sent]).toEqual([503, 'unavailable', 0]);
    expect(countersOf(await accountOf(user))).toMatchObject({ credits: 0, tasks: 0 });
    expect((await payRelayed(user, 'text-to-video', { 'idempotency-key': 'k1' })).status).toBe(200);
  });

  test('is replayed with its key without a second ticket or write', async () => {
    const user = await spender();
    const first = await payRelayed(user, 'extend-video', { 'idempotency-key': 'k2' });
    const { result, requests } = await countRequests(() =>
      payRelayed(user, 'extend-video', { 'idempotency-key': 'k2' }),
    );

    expect([result.status, result.text]).toEqual([200, first.text]);
    expect(simulation.received).toHaveLength(1);
    // The attempt to take the key.
    expect(requests).toEqual(['PutItemCommand']);
  });

  test('that the provider refuses leaves a record that expires', async () => {
    misbehave({ kind: 'status', status: 422 });
    const { status } = await payRelayed(await spender());

    expect(status).toBe(400);
    expect(await storedTask(ticketSentTo('text-to-video').ticket)).toMatchObject({ sequence: 0 });
  });
});

describe('a paid request without an address', () => {
  test.each(proxyNames)('%s stores no task', async (name) => {
    const stored: string[] = [];
    intercept(dynamodb, ({ input, send }) => {
      stored.push(JSON.stringify(input));
      return send();
    });
    await pay(await spender(), name, { body: { [fieldOf(name)]: '' } });

    expect(stored.length).toBeGreaterThan(3);
    expect(stored.filter((input) => input.includes('TICKET#'))).toEqual([]);
    expect(simulation.received[0]?.body).not.toHaveProperty(fieldOf(name));
    expect(sampleBody(name)).not.toHaveProperty(fieldOf(name));
  });
});

import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { handler as receiveNotification } from '../../../functions/receive-notification.ts';
import { callerHash } from '../../../lib/caller.ts';
import { statusKey } from '../../../lib/notifications/records.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { dayCallerKey } from '../../../lib/store/keys.ts';
import { intercept } from '../../support/intercept.ts';
import { invoke } from '../../support/invoke.ts';
import { lines } from '../../support/logged-lines.ts';
import { misbehave, outwaitProvider, type ProxyName, proxyNames, simulation } from '../../support/proxies.ts';
import type { Misbehavior } from '../../../tools/simulators/misbehaviors.ts';
import { countRequests, storedItem } from '../../support/registry.ts';
import { notificationsOf, pathOf, storedTask } from '../../support/relay.ts';
import { accountOf, countersOf, pay, spender, usageOf } from '../../support/spending.ts';
import { setVariables } from '../../support/variables.ts';

// Only the delivering function has the key.
setVariables({ NOTIFICATION_SIGNING_KEY: '' });

const fieldOf = (name: ProxyName) => (name === 'relight-image' ? 'webhook_url' : 'callback_url');
const hook = 'https://caller.example.com/hook?of=7';
const statusAddress = /^<http:\/\/localhost:\d+\/archives-[\w-]+\/(status\/[\w-]{27}\.json)>; rel="status"$/;

/** Pays for a task whose caller wants notifications. */
async function payRelayed(user: string, name: ProxyName = 'text-to-video', headers = {}) {
  const result = await pay(user, name, { body: { [fieldOf(name)]: hook }, headers });
  return { ...result, sent: simulation.received.at(-1)?.body ?? {} };
}

function secretSentTo(name: ProxyName): { provider: string; task: string } {
  return pathOf(simulation.received.at(-1)?.body[fieldOf(name)]);
}

describe('a paid request whose caller gives an address, if notifications are relayed', () => {
  test.each(proxyNames)(
    '%s sends a URL of ours, and leaves a record of its task, found by its hash',
    async (name) => {
      const user = await spender();
      const { sent, headers, text } = await payRelayed(user, name);
      const { task_hash } = lines('request').at(-1);
      const { provider, task: secret } = secretSentTo(name);
      const [usage] = await usageOf(user);
      const shown = statusKey(secret).slice('status/'.length, -5);

      expect(statusAddress.exec(String(headers.link))?.[1]).toBe(statusKey(secret));
      // Receivers see the hash, in the id of a notification.
      for (const other of [text, secret, hash('sha256', secret), hash('sha256', secret, 'base64url')])
        expect(other).not.toContain(shown);

      const task = await storedTask(secret);
      expect(task).toMatchObject({
        provider,
        caller: `user:${user}`,
        address: hook,
        attempt: usage?.sk,
        request_id: usage?.request_id,
        status_key: statusKey(secret),
        group: provider,
        pending_shard: `poll-${provider}`,
        sequence: 0,
        pending_since: new Date(Date.parse(String(task?.at)) + 600_000).toISOString(),
      });
      expect(provider).toBe(name === 'relight-image' ? 'image' : 'video');
      expect(await notificationsOf(secret)).toEqual([]);
      expect(task_hash).toBe(task?.pk.slice('TASK#'.length, 'TASK#'.length + 16));

      // Without a URL of the caller, the provider gets one of ours as well, and all else is equal.
      await pay(await spender(), name, { body: { [fieldOf(name)]: '' } });
      const other = simulation.received.at(-1)?.body ?? {};
      expect({ ...other, [fieldOf(name)]: sent[fieldOf(name)] }).toEqual(sent);
      expect(other[fieldOf(name)]).not.toBe(sent[fieldOf(name)]);
      expect(await storedTask(secretSentTo(name).task)).not.toHaveProperty('address');
    },
  );

  test('gets another secret each time, which is stored and answered nowhere', async () => {
    const stored: string[] = [];
    intercept(dynamodb, ({ input, send }) => {
      stored.push(JSON.stringify(input));
      return send();
    });
    const answers = [await payRelayed(await spender()), await payRelayed(await spender())];
    const secrets = answers.map(({ sent }) => pathOf(sent.callback_url).task);

    expect(secrets[0]).not.toBe(secrets[1]);
    for (const secret of secrets) {
      expect(stored.filter((input) => input.includes(secret))).toEqual([]);
      expect(answers.filter(({ text }) => text.includes(secret))).toEqual([]);
    }
    expect(stored.some((input) => input.includes(hook))).toBe(true);
  });

  test.each([
    ['its attempt', /^USAGE#\S+ \d/],
    ['its task', /^TASK#/],
    ['its caller under the day', / CALLER#/],
  ])('sends and counts nothing if %s cannot be recorded, and leaves the key free', async (_, key) => {
    const user = await spender({ credits_per_day: 1000 });
    const headers = { 'idempotency-key': 'k1' };
    const failing = intercept(dynamodb, ({ input, send }) => {
      const { pk, sk } = Object(Object(input).Item);
      if (!key.test(`${pk?.S} ${sk?.S}`)) return send();
      failing();
      throw new Error('not stored');
    });
    const failed = await payRelayed(user, 'text-to-video', headers);

    expect([failed.status, failed.body.error, simulation.received]).toEqual([500, 'internal_error', []]);
    expect(failed.headers).not.toHaveProperty('link');
    expect(countersOf(await accountOf(user))).toEqual({ credits: 0, tasks: 0, requests: 1 });
    expect(await accountOf(user)).toMatchObject({ open: 0 });
    expect(await usageOf(user)).toMatchObject([{ payment: 'rejected', credits: 0, code: 'internal_error' }]);
    expect((await payRelayed(user, 'text-to-video', headers)).status).toBe(200);
    const caller = `user:${user}`;
    const day = dayCallerKey(callerHash(caller), new Date().toISOString().slice(0, 10));
    expect(await storedItem(day)).toMatchObject({ caller });
  });

  test.each(proxyNames)(
    'rejects %s by the name of the field, and stores and sends nothing, if no notification could be sent to it',
    async (name) => {
      const user = await spender();
      const { result, requests } = await countRequests(() =>
        pay(user, name, { body: { [fieldOf(name)]: 'http://caller.example.com/' } }),
      );

      expect([result.status, result.body.error]).toEqual([400, 'invalid_request']);
      expect(result.body.details).toEqual([
        {
          path: `body.${fieldOf(name)}`,
          message:
            'must be an https address of at most 2,048 characters that the whole internet can reach, on port 443 or above 1023, without user and password: notifications have the URLs of results',
        },
      ]);
      expect([requests, simulation.received]).toEqual([[], []]);
      expect([await accountOf(user), await usageOf(user)]).toEqual([undefined, []]);
    },
  );
});

describe('the status address', () => {
  test.each<[Misbehavior, number, string]>([
    [{ kind: 'stall' }, 504, 'provider_timeout'],
    [{ kind: 'truncated' }, 502, 'provider_invalid_reply'],
  ])('comes with the error after %j, as the task may have started', async (misbehavior, status, code) => {
    misbehave(misbehavior);
    const user = await spender();
    const call = () => pay(user);
    const answer = await (misbehavior.kind === 'stall' ? outwaitProvider(call) : call());
    const [, key] = statusAddress.exec(String(answer.headers.link)) ?? [];

    expect([answer.status, answer.body.error]).toEqual([status, code]);
    expect(key).toBe(statusKey(secretSentTo('text-to-video').task));
  });

  test('comes again with the key of a request whose outcome is unknown, for one write and one read', async () => {
    const user = await spender();
    const call = { headers: { 'idempotency-key': 'k4' } };
    misbehave({ kind: 'reset' });
    const first = await pay(user, 'text-to-video', call);
    const { result, requests } = await countRequests(() => pay(user, 'text-to-video', call));

    expect([result.status, result.body.error]).toEqual([422, 'idempotency_consumed']);
    expect(result.headers.link).toMatch(statusAddress);
    expect(result.headers.link).toBe(first.headers.link);
    expect(requests).toEqual(['PutItemCommand', 'BatchGetItemCommand']);
  });

  test.each(proxyNames)(
    'is not answered if the provider rejects a task of %s, and nothing stays',
    async (name) => {
      misbehave({ kind: 'status', status: 422 });
      const [user, key] = [await spender(), { 'idempotency-key': 'k6' }];
      const { status, headers } = await payRelayed(user, name, key);

      expect([status, headers.link, await storedTask(secretSentTo(name).task)]).toEqual([
        400,
        undefined,
        undefined,
      ]);
      expect((await payRelayed(user, name, key)).status).toBe(200);
    },
  );
});

test('direct notifications take no call of a provider: it is answered as any unknown path, without the store', async () => {
  setVariables({ NOTIFICATIONS: 'direct' });
  const { result, requests } = await countRequests(() => invoke(receiveNotification, 'receive-notification'));

  expect([result.status, result.body.error, requests]).toEqual([404, 'route_not_found', []]);
  expect(lines().at(-1)).toMatchObject({ reason: 'switched_off' });
});

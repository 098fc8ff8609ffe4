import { randomBytes } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { stopDate } from '@node-registry/testing/clock';
import { handler as deliver } from '../../functions/deliver-notifications.ts';
import { handler as unknownRoute } from '../../functions/unknown-route.ts';
import { callerHash } from '../../lib/caller.ts';
import { statusKey, taskHash } from '../../lib/notifications/records.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { taskKey } from '../../lib/store/keys.ts';
import { shardOf } from '../../lib/work/lanes.ts';
import type { Misbehavior } from '../../tools/simulators/misbehaviors.ts';
import { failCalls } from '../support/intercept.ts';
import { type Changes, invoke } from '../support/invoke.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { shownStatus } from '../support/notifications.ts';
import { everythingOf, hook, lastLine, say, started } from '../support/notified.ts';
import { misbehave, type ProxyName, simulation } from '../support/proxies.ts';
import { queue, runQueue } from '../support/queue.ts';
import { countRequests, setFields } from '../support/registry.ts';
import { notificationsOf, storedTask } from '../support/relay.ts';
import { accountOf, countersOf, spender, usageOf } from '../support/spending.ts';
import { setVariables } from '../support/variables.ts';

async function paidBy() {
  const user = await spender();
  return { user, path: await started('text-to-video', user) };
}

describe('POST /notifications/{provider}/{task}', () => {
  describe('200', () => {
    test.each<readonly [ProxyName, object, string]>([
      // Every known word: tests/lib/providers/replies.test.ts.
      ['multiframe-video', { state: 'FAILED' }, 'failed'],
      ['relight-image', { data: { state: 'running', status: 'Completed' } }, 'success'],
      ['relight-image', { state: 'succeeded' }, 'success'],
      ['text-to-video', { state: 'success', data: { state: 'InProgress' } }, 'processing'],
      ['text-to-video', { state: 'Upscaling' }, 'processing'],
      ['text-to-video', { state: 99 }, 'success'],
    ])('answers %s and %j, and keeps the task as %s', async (name, body, state) => {
      setVariables({ PROVIDER_STATES: 'upscaling=processing, 99=success' });
      const path = await started(name);
      const { status, text, headers } = await say(path, body);

      expect([status, text]).toEqual([200, '{}']);
      const id = 'sample-receive-notification';
      expect(headers).toEqual({ 'content-type': 'application/json', 'x-request-id': id });
      expect(await storedTask(path.task)).toMatchObject({ state, sequence: 1 });
    });

    test('comes after the notification is stored, with the fields of its body and the common ones, and queued', async () => {
      const path = await started();
      const before = await storedTask(path.task);
      stopDate(Date.now() + 60_000);
      // What has other meanings in a notification is left out.
      const others = '"task_id":"invented", "error":{"code":0}, "provider_state":"loading"';
      const rawBody = `{ "id":"12", ${others}, "state" : "processing",\n"n":1.50, "text":"\\u00e9 é" }`;
      await say(path, {}, { rawBody });
      const { task, notifications } = await everythingOf(path);
      const task_id = simulation.received[0]?.taskId;

      const ttl = Math.ceil(Date.now() / 1000) + 14 * 86_400;
      const reported = { state: 'processing', sequence: 1, reported_at: new Date().toISOString() };
      expect(task).toEqual({ ...before, ...reported, revision: 2, ttl, task_id });
      const hash = String(task?.pk.slice('TASK#'.length));
      const [notification] = notifications;
      expect(notifications).toEqual([
        {
          pk: task?.pk,
          sk: 'NOTIFICATION#0001',
          id: `msg_${hash}_1`,
          address: hook,
          group: callerHash(String(task?.caller)),
          status_key: statusKey(path.task),
          body: `{"task_id":"${task_id}","state":"processing","media":[],"creations":[],"id":"12","n":1.50,"text":"é é"}`,
          state: 'processing',
          result: 'pending',
          at: new Date().toISOString(),
          tries: 0,
          pending_shard: shardOf('deliver', taskKey(hash), ''),
          pending_since: new Date(Date.now() + 600_000).toISOString(),
          ttl,
        },
      ]);
      // With its caller as the message group: no caller delays another's notifications.
      const groups = new Map<string, unknown>();
      await runQueue(async ({ Records }) => {
        for (const { body, attributes } of Records) groups.set(body, attributes.MessageGroupId);
        return undefined;
      });
      const message = JSON.stringify({ pk: task?.pk, sk: notification?.sk, tries: 0 });
      expect(groups.get(message)).toBe(notification?.group);
    });

    // The contract allows a payload of 1,048,576 characters.
    test.each(['base64', 'utf8'] as const)(
      'keeps all of a notification in %s except the payload that it repeats',
      async (encoding) => {
        const path = await started();
        const creations = [{ url: 'https://videos.example/1.mp4' }];
        const address = `https://a.example/${path.task}`;
        const payload = `${address} ${'é'.repeat(1_048_576)}`;
        const text = `${address} ${'x'.repeat(100_000)}`;
        const said = { state: 'failed', payload, creations, n: 1, message: text };
        const rawBody = Buffer.from(JSON.stringify(said).replace('"n":1', '"n":1.50')).toString(encoding);
        const { status } = await say(path, {}, { rawBody, isBase64Encoded: encoding === 'base64' });

        expect(status).toBe(200);
        const [notification] = await notificationsOf(path.task);
        const { error, message, ...others } = JSON.parse(String(notification?.body));
        expect(others).toEqual({
          state: 'failed',
          task_id: simulation.received[0]?.taskId,
          creations,
          n: 1.5,
          media: ['https://videos.example/1.mp4'],
        });
        expect(notification?.body).toContain('"n":1.50');
        expect([error.length, message === undefined, error.startsWith(hook)]).toEqual([500, false, true]);
        expect(notification?.body).not.toContain(path.task);
      },
    );

    const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const many = JSON.stringify(Array.from({ length: 10_000 }, (_, index) => `text ${index}`));

    test.each([
      ['many short texts', `"texts":${many}`, { generated: [hook] }],
      ['texts that are nested deep', `"texts":${deep(40_000)}`, { generated: [hook] }],
      ['a list of media that is nested deep', `"media":${deep(30_000)}`, {}],
    ])('keeps the common fields alone of %s', async (_, fields, kept) => {
      const path = await started();
      await say(path, {}, { rawBody: `{${fields},"state":"success","generated":["${hook}"]}` });
      const [notification] = await notificationsOf(path.task);
      const task_id = simulation.received.at(-1)?.taskId;

      expect(JSON.parse(String(notification?.body))).toEqual({
        task_id,
        state: 'success',
        media: [hook],
        creations: [],
        ...kept,
      });
    });

    test('delivers an unknown word once, next to the last state, and logs it with task and request', async () => {
      const path = await started();
      const odd = ['', undefined, ['success'], 'constructor'];
      for (const state of ['paused', 'paused', 'queueing', 'PAUSED!', ...odd])
        expect((await say(path, { state })).status).toBe(200);
      const { task, notifications } = await everythingOf(path);

      expect(notifications.map(({ state, provider_state }) => [state, provider_state])).toEqual([
        ['created', 'paused'],
        ['queueing', undefined],
        ['queueing', 'PAUSED!'],
        ['queueing', 'constructor'],
      ]);
      expect(JSON.parse(String(notifications[2]?.body))).toMatchObject({
        state: 'queueing',
        provider_state: 'PAUSED!',
        task_id: simulation.received[0]?.taskId,
      });
      expect(task).toMatchObject({ state: 'queueing', provider_state: 'constructor' });
      const unknown = lines('unknown_state');
      expect(unknown.map(({ provider_state }) => provider_state)).toEqual([
        ...['paused', 'PAUSED!', null, null, null, 'constructor'],
      ]);
      expect(unknown[0]).toMatchObject({
        provider: 'video',
        paid_request_id: task?.request_id,
        request_id: 'sample-receive-notification',
      });
    });

    test('hears the first hundred words of a provider that counts, and its end', async () => {
      const path = await started();
      await setFields(taskKey(taskHash(path.task)), { sequence: 98 });
      for (const state of ['98 %', '98 %', '99 %', '100 %', 'success']) await say(path, { state });

      const told = (await notificationsOf(path.task)).map((each) => each.provider_state ?? each.state);
      expect(told).toEqual(['98 %', '99 %', 'success']);
    });

    test('takes a success after a failure, which the ledger follows, and never the reverse', async () => {
      const { user, path } = await paidBy();
      for (const state of ['timeout', 'made up', 'success', 'failed']) await say(path, { state });

      expect((await notificationsOf(path.task)).map(({ state }) => state)).toEqual(['failed', 'success']);
      expect(await usageOf(user)).toMatchObject([{ payment: 'taken', final_state: 'success' }]);
    });

    test.each([
      [{ state: 'success' }],
      [{}],
      [{ state: 'uploaded' }],
      // The call before came from a machine whose clock is fast.
      [{ state: 'success' }, 60_000],
    ])('takes the results that a provider names in %j after its success, once', async (word, aheadMs = 0) => {
      const now = Date.now();
      const { user, path } = await paidBy();
      const creations = [{ url: `${hook}.webm` }];
      await say(path, { state: 'failed' });
      stopDate(now + aheadMs);
      await say(path, { state: 'success' });
      stopDate(now);
      for (const more of [{ creations }, { creations }, { creations: [{ url: `${hook}.mp4` }] }, {}])
        await say(path, { ...word, ...more });
      await runQueue(deliver);

      const [, bare, named, ...others] = await notificationsOf(path.task);
      const media = [bare, named].map((each) => JSON.parse(String(each?.body)).media);
      expect(media).toEqual([[], [`${hook}.webm`]]);
      expect(others).toEqual([]);
      expect((await shownStatus(named)).content).toMatchObject({ state: 'success', media: [`${hook}.webm`] });
      expect(await usageOf(user)).toMatchObject([{ final_state: 'success', credits: 20 }]);
    });

    // What may be an id: tests/lib/providers/reply-fields.test.ts.
    test('keeps the task id that was notified first if the answer was lost', async () => {
      misbehave({ kind: 'reset', accepted: true });
      const path = await started();
      const said = { created: '\ud800', queueing: 7, processing: 'second' };
      for (const [state, id] of Object.entries(said)) await say(path, { state, id });
      const { task, notifications } = await everythingOf(path);

      expect(task).toMatchObject({ sequence: 3, task_id: '7' });
      expect(notifications.map(({ body }) => JSON.parse(body).task_id)).toEqual([undefined, '7', '7']);
    });

    test('changes nothing for a state that does not move the task on', async () => {
      const path = await started();
      await say(path, { state: 'processing', id: 'a' });
      const before = await everythingOf(path);
      const { requests } = await countRequests(() => say(path, { state: 'created', id: 'b' }));

      expect(await everythingOf(path)).toEqual(before);
      expect(requests).toEqual(['BatchGetItemCommand', 'BatchGetItemCommand']);
      expect(lastLine()).toMatchObject({ status: 200, notification: 'repeated', task_state: 'created' });
    });

    // That a queue that hangs is waited for until the deadline: tests/lib/aws/queue.test.ts.
    test('answers while the queue is down: what is stored stays listed', async () => {
      const path = await started();
      stopDate();
      queue.faults.isDown = true;
      const { status } = await say(path, { state: 'success' }).finally(() => {
        queue.faults.isDown = false;
      });
      const [notification] = await notificationsOf(path.task);

      expect(status).toBe(200);
      expect(queue.bodies.join()).not.toContain(notification?.pk);
      expect(notification?.pending_since).toBe(new Date(Date.now() + 600_000).toISOString());
      expect(lines('not_queued')).toMatchObject([{ lane: 'deliver', pk: notification?.pk }]);
    });

    test.each<[Misbehavior, number]>([
      [{ kind: 'reset' }, 20],
      [{ kind: 'reply', fields: { credits: 33 }, without: ['task_id'] }, 33],
    ])(
      'writes what is missing into the usage record of an unknown outcome, after %j',
      async (after, told) => {
        const user = await spender();
        misbehave(after);
        const path = await started('text-to-video', user);
        await say(path, { id: 'an event', data: { task_id: 'late-1', state: 'success', credits: '19.2' } });

        const unknown = { payment: 'unknown', credits: 74, is_exact: false, final_state: 'success' };
        expect(await usageOf(user)).toMatchObject([{ ...unknown, task_id: 'late-1', credits_told: told }]);
        expect(countersOf(await accountOf(user))).toMatchObject({ credits: 74, tasks: 1 });
      },
    );
  });

  describe('404', () => {
    test.each<[what: string, reason: string, call: (secret: string) => Changes]>([
      [
        'an unknown secret',
        'unknown_task',
        () => ({ path: { task: randomBytes(32).toString('base64url') } }),
      ],
      [
        'an unknown secret, even with a body that is not JSON,',
        'unknown_task',
        () => ({ path: { task: randomBytes(32).toString('base64url') }, rawBody: '[' }),
      ],
      [
        'the secret of the other provider',
        'unknown_task',
        () => ({ path: { provider: 'image' }, body: { state: 'success', status: 'COMPLETED' } }),
      ],
      ['a provider that does not exist', 'provider', () => ({ path: { provider: 'audio' } })],
      ['a long secret', 'task', (secret) => ({ path: { task: `${secret}A` } })],
      ['a secret of other characters', 'task', (secret) => ({ path: { task: `${secret.slice(1)}+` } })],
      ['an empty secret', 'task', () => ({ path: { task: '' } })],
      ['an empty body', 'unreadable', () => ({ rawBody: '' })],
      ['a list', 'unreadable', () => ({ rawBody: '[{"state":"success"}]' })],
      [
        'bytes that are not UTF-8',
        'not_utf8',
        () => ({ rawBody: Buffer.from('"\xff"', 'latin1').toString('base64'), isBase64Encoded: true }),
      ],
      ['half a character', 'not_utf8', () => ({ rawBody: '{"state":"success","text":"\ud800"}' })],
    ])('answers %s as any unknown path, and changes nothing', async (_, reason, make) => {
      const path = await started();
      await say(path, { state: 'queueing' });
      const before = await everythingOf(path);
      const { path: called, ...changes } = make(path.task) ?? {};
      const { result, requests } = await countRequests(() =>
        say({ ...path, ...called }, { state: 'success' }, changes),
      );
      const line = lastLine();
      const headers = { 'x-request-id': 'sample-receive-notification' };
      const elsewhere = await invoke(unknownRoute, 'unknown-route', { headers });

      expect(result).toEqual(elsewhere);
      expect(line).toMatchObject({ status: 404, code: 'route_not_found', reason });
      expect(await everythingOf(path)).toEqual(before);
      expect(requests).toEqual(/^un/.test(reason) ? ['BatchGetItemCommand'] : []);
    });

    test('answers a task that has expired but is not deleted yet', async () => {
      const path = await started();
      const task = await storedTask(path.task);
      await setFields(task ?? { pk: '', sk: '' }, { ttl: Math.floor(Date.now() / 1000) - 1 });
      const { status } = await say(path, { state: 'success' });

      expect([status, lastLine().reason]).toEqual([404, 'unknown_task']);
      expect(await notificationsOf(path.task)).toEqual([]);
    });
  });

  describe('5xx', () => {
    const retryAfter = { 'retry-after': expect.stringMatching(/^\d+$/) };

    const down = Object.assign(new Error('down'), { name: 'InternalServerError' });
    const CancellationReasons = [{ Code: 'ConditionalCheckFailed' }, { Code: 'None' }];
    const lost = new TransactionCanceledException({ message: '', $metadata: {}, CancellationReasons });

    test.each([
      ['BatchGetItemCommand', 'the store is down', down],
      ['TransactWriteItemsCommand', 'the store is down', down],
      ['TransactWriteItemsCommand', 'others change the task until the deadline', lost],
    ])('answers while %s fails because %s, so that the provider calls again', async (failing, _, error) => {
      const path = await started();
      const repair = failCalls(dynamodb, failing, error);
      const failed = await say(path, { state: 'success' }, error === lost ? { remainingMs: 1500 } : {});
      repair();
      const again = await say(path, { state: 'success' });

      expect([failed.status, failed.headers]).toEqual([503, expect.objectContaining(retryAfter)]);
      expect(again.status).toBe(200);
      expect(await notificationsOf(path.task)).toHaveLength(1);
    });
  });

  test('leaves one log line, with the beginning of the hash and without the secret or the path', async () => {
    const path = await started();
    const task = await storedTask(path.task);
    loggedLines.length = 0;
    await say(path, { state: 'success' });

    const task_hash = task?.pk.slice('TASK#'.length, 'TASK#'.length + 16);
    expect(lines()).toEqual([
      {
        level: 'info',
        event: 'request',
        request_id: 'sample-receive-notification',
        function_request_id: 'an-invocation',
        function: 'receiveNotification',
        cold_start: false,
        route: 'POST /notifications/{provider}/{task}',
        notification: 'written',
        task_hash,
        task_state: 'success',
        status: 200,
        ms: expect.any(Number),
      },
    ]);
  });
});

import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { callerHash } from '../../lib/caller.ts';
import { handler } from '../../functions/task-results.ts';
import { namedTaskKey, taskKey } from '../../lib/store/keys.ts';
import { blockCaller } from '../../tools/admin/spend/limits.ts';
import { invoke } from '../support/invoke.ts';
import { say, started } from '../support/notified.ts';
import { proxies, simulation } from '../support/proxies.ts';
import { setFields, storedItem } from '../support/registry.ts';
import { pay, spender } from '../support/spending.ts';
import { bearer } from '../support/tokens.ts';
import { setVariables } from '../support/variables.ts';

const video = 'GET /proxy/video-provider/tasks/{task_id}/creations';
const image = 'GET /proxy/image-provider/v1/ai/image-relight/{task_id}';

/** Asks as the gateway does. */
const ask = (user: string | undefined, task_id: string, routeKey = video) =>
  invoke((event, context) => handler({ ...event, routeKey }, context), 'task-results', {
    path: { task_id },
    headers: { authorization: user && bearer(user) },
  });

const lastTask = () => String(simulation.received.at(-1)?.taskId);

describe('the creations of a task', () => {
  test('are an empty list until the provider has told of them, and then its own', async () => {
    const user = await spender();
    const path = await started('text-to-video', user);
    const id = lastTask();
    const seen = [(await ask(user, id)).body];
    await say(path, { id, state: 'processing' });
    seen.push((await ask(user, id)).body);
    await say(path, { id, state: 'success', creations: [{ id: 'c', url: 'https://v.example/1.mp4' }] });
    const { status, body } = await ask(user, id);

    expect(seen.map(({ state, creations }) => [state, creations])).toEqual([
      ['created', []],
      ['processing', []],
    ]);
    const creations = [{ id: 'c', url: 'https://v.example/1.mp4', cover_url: '' }];
    expect([status, body]).toEqual([200, { id, state: 'success', err_code: '', creations }]);
  });

  test('name the provider’s word for a failure', async () => {
    const user = await spender();
    const path = await started('extend-video', user);
    await say(path, { id: lastTask(), state: 'failed', err_code: 'AuditSubmitIllegal' });

    expect((await ask(user, lastTask())).body).toMatchObject({
      state: 'failed',
      err_code: 'AuditSubmitIllegal',
    });
  });

  test('are a relit image with the image provider’s words', async () => {
    const user = await spender();
    const path = await started('relight-image', user);
    const task_id = lastTask();
    const before = (await ask(user, task_id, image)).body;
    await say(path, { data: { task_id, status: 'COMPLETED', generated: ['https://i.example/1.png'] } });

    expect(before).toEqual({ data: { task_id, status: 'CREATED', generated: [] } });
    expect((await ask(user, task_id, image)).body.data).toMatchObject({
      status: 'COMPLETED',
      generated: ['https://i.example/1.png'],
    });
  });

  test('are the same 404 for another caller’s task, another provider’s, an unknown one, and one that ended', async () => {
    const [user, other] = [await spender(), await spender()];
    const path = await started('text-to-video', user);
    const id = lastTask();
    const answers = [ask(other, id), ask(user, id, image), ask(user, 'unknown'), ask(user, `${id}\0`)];
    const errors = (await Promise.all(answers)).map(({ status, body }) => [status, body.error, body.message]);

    expect(new Set(errors.map(String)).size).toBe(1);
    expect(errors[0]?.slice(0, 2)).toEqual([404, 'task_not_found']);
    expect((await ask(undefined, id)).status).toBe(401);

    expect((await ask(user, id)).status).toBe(200);
    await setFields(taskKey(hash('sha256', path.task)), { ttl: 1 });
    const { status, body } = await ask(user, id);
    expect([status, body.error, body.message]).toEqual(errors[0]);
  });

  test('stay readable for a blocked caller', async () => {
    const user = await spender();
    await started('text-to-video', user);
    await blockCaller({ operator: 'admin' }, `user:${user}`, 'odd');

    expect((await ask(user, lastTask())).status).toBe(200);
  });

  test('are 404 without a token on a network that needs none: all its callers are one', async () => {
    setVariables({ PROXY_ACCESS_TOKEN: 'optional' });
    const { status } = await invoke(proxies['text-to-video'] as never, 'text-to-video', {
      headers: { authorization: undefined },
    });
    const anonymous = namedTaskKey(callerHash('anonymous'), 'video', lastTask());

    expect([status, (await ask(undefined, lastTask())).status]).toEqual([200, 404]);
    expect(await storedItem(anonymous)).toBeUndefined();
  });
});

test('resultRoutes=off writes nothing for them', async () => {
  setVariables({ RESULT_ROUTES: 'off' });
  const user = await spender();
  await pay(user);

  expect((await ask(user, lastTask())).status).toBe(404);
});

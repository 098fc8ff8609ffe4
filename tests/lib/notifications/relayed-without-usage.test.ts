import { expect, test } from '@jest/globals';
import { intercept } from '../../support/intercept.ts';
import { invoke } from '../../support/invoke.ts';
import { notificationsOf, pathOf, storedTask } from '../../support/relay.ts';
import { acceptedTasks, proxyNames, simulation } from '../../support/proxies.ts';
import { pay } from '../../support/spending.ts';
import { handler } from '../../../functions/receive-notification.ts';
import { dynamodb } from '../../../lib/store/table.ts';
import { setVariables } from '../../support/variables.ts';

setVariables({ USAGE_RECORDS: 'off' });

const hook = 'https://caller.example.com/hook';
const fieldOf = (name: string) => (name === 'relight-image' ? 'webhook_url' : 'callback_url');

test.each(proxyNames)('%s writes its task and nothing else while usage records are off', async (name) => {
  const asked: string[] = [];
  const remove = intercept(dynamodb, ({ command, send }) => {
    asked.push(command);
    return send();
  });
  const { status } = await pay('somebody', name, { body: { [fieldOf(name)]: hook } });
  remove();
  const path = pathOf(simulation.received[0]?.body[fieldOf(name)]);
  const body = { state: 'success', status: 'COMPLETED' };
  const told = await invoke(handler, 'receive-notification', { path: { ...path }, body });

  expect([status, asked, told.status]).toEqual([200, ['PutItemCommand'], 200]);
  expect(await storedTask(path.ticket)).not.toHaveProperty('attempt');
  expect(await notificationsOf(path.ticket)).toMatchObject([{ state: 'success', address: hook }]);
});

test('frees the key if the task could not be written', async () => {
  const remove = intercept(dynamodb, ({ input, send }) => {
    if (JSON.stringify(input).includes('TICKET#'))
      throw Object.assign(new Error('down'), { name: 'InternalServerError' });
    return send();
  });
  const call = { body: { callback_url: hook }, headers: { 'idempotency-key': 'free-again' } };
  const failed = await pay('somebody', 'text-to-video', call);
  remove();

  expect([failed.status, acceptedTasks()]).toEqual([503, 0]);
  expect((await pay('somebody', 'text-to-video', call)).status).toBe(200);
});

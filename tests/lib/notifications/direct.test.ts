import { describe, expect, test } from '@jest/globals';
import { handler as receiveNotification } from '../../../functions/receive-notification.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { intercept } from '../../support/intercept.ts';
import { invoke, sampleBody } from '../../support/invoke.ts';
import { lines } from '../../support/logged-lines.ts';
import { proxyNames, simulation } from '../../support/proxies.ts';
import { pay, spender } from '../../support/spending.ts';

const hook = ' https://caller.example.com/hook?of=7 ';

describe('direct notifications', () => {
  test.each(proxyNames)('%s gives the provider the caller’s own address and stores no task', async (name) => {
    const field = name === 'relight-image' ? 'webhook_url' : 'callback_url';
    const user = await spender();
    await pay(user, name);
    const stored: string[] = [];
    intercept(dynamodb, ({ command, input, send }) => {
      stored.push(command);
      expect(JSON.stringify(input)).not.toContain('TASK#');
      return send();
    });
    const { status } = await pay(user, name, { body: { [field]: hook } });
    const [without, sent] = simulation.received.map(({ body }) => JSON.stringify(body));

    expect(status).toBe(200);
    expect(JSON.parse(String(sent))).toEqual({ ...JSON.parse(String(without)), [field]: hook.trim() });
    // Reserve, record, complete and settle.
    expect(stored).toEqual(['UpdateItemCommand', 'PutItemCommand', 'UpdateItemCommand', 'UpdateItemCommand']);
  });

  test.each(['http://caller.example.com/', 'https://user:secret@10.0.0.1:22/'])(
    'give the provider %s, which this service would never call',
    async (address) => {
      const body = { callback_url: address };
      const { status } = await pay(await spender(), 'text-to-video', { body });

      expect([status, simulation.received[0]?.body.callback_url]).toEqual([200, address]);
    },
  );

  test('answer a call to the address for notifications as any unknown path, without the store', async () => {
    const asked: string[] = [];
    intercept(dynamodb, ({ command, send }) => {
      asked.push(command);
      return send();
    });
    const { status, body } = await invoke(receiveNotification, 'receive-notification');

    expect([status, body.error, asked]).toEqual([404, 'route_not_found', []]);
    expect(lines().at(-1)).toMatchObject({ reason: 'switched_off' });
    expect(sampleBody('receive-notification')).toHaveProperty('state');
  });
});

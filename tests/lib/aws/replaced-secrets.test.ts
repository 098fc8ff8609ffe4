import { createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { notificationsOf } from '../../support/relay.ts';
import { acceptedTasks, simulation } from '../../support/proxies.ts';
import { say, started } from '../../support/notified.ts';
import { pay, spender } from '../../support/spending.ts';
import { setVariables } from '../../support/variables.ts';

/** The store of secrets; undefined while it is down. Each test names a parameter of its own. */
const secrets = new Map<string, string>();
let isDown = false;
const store = createServer(async (request, response) => {
  const Value = secrets.get(JSON.parse(await text(request)).Name);
  response.statusCode = isDown ? 500 : 200;
  response.end(JSON.stringify(isDown ? {} : { Parameter: { Value } }));
});
await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));

/** Gives the video provider's key, or its key of notifications, by a reference that nothing has read. */
function refer(variable: string, value: string): string {
  const name = `/${randomUUID()}`;
  secrets.set(name, value);
  setVariables({
    AWS_ENDPOINT_URL_SSM: `http://127.0.0.1:${(store.address() as AddressInfo).port}`,
    [variable]: `ssm:${name}`,
  });
  return name;
}

const keyOfProvider = String(process.env.VIDEO_PROVIDER_KEY);

beforeEach(() => {
  isDown = false;
});

afterEach(() => {
  jest.restoreAllMocks();
});

afterAll(() => {
  store.closeAllConnections();
  store.close();
});

describe("a provider's key that cannot be read", () => {
  test('costs nothing, and leaves the Idempotency-Key free', async () => {
    isDown = true;
    refer('VIDEO_PROVIDER_KEY', keyOfProvider);
    const [user, headers] = [await spender(), { 'idempotency-key': randomUUID() }];
    const first = await pay(user, 'text-to-video', { headers });
    const sent = simulation.received.length;
    isDown = false;
    const second = await pay(user, 'text-to-video', { headers });

    expect([first.status, first.body.error, sent]).toEqual([503, 'unavailable', 0]);
    expect([second.status, second.headers['idempotent-replayed'], acceptedTasks()]).toEqual([
      200,
      undefined,
      1,
    ]);
  });
});

describe('the key of a provider’s notifications', () => {
  test('changes after a wrong signature, but not within five seconds', async () => {
    const name = refer('VIDEO_NOTIFICATION_KEY', 'the first key');
    const path = await started();
    const rawBody = '{"state":"success"}';
    const sayWith = async (key: string) => {
      const signature = createHmac('sha256', key).update(rawBody).digest('hex');
      return (await say(path, {}, { rawBody, headers: { 'x-signature': signature } })).status;
    };
    const now = Date.now();
    const setClock = (ms: number) => jest.spyOn(Date, 'now').mockReturnValue(now + ms);
    setVariables({ VIDEO_NOTIFICATION_KEY_HEADER: 'X-Signature' });
    setClock(0);
    expect(await sayWith('another key')).toBe(404);
    secrets.set(name, 'the second key');
    setClock(4999);
    expect([await sayWith('the second key'), await sayWith('the second key')]).toEqual([404, 404]);
    setClock(5000);

    expect([await sayWith('the second key'), await sayWith('the second key')]).toEqual([404, 200]);
    expect(await notificationsOf(path.ticket)).toHaveLength(1);
  });
});

import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { acceptedTasks, simulation } from '../../support/proxies.ts';
import { serve } from '../../support/serve.ts';
import { pay, spender } from '../../support/spending.ts';
import { setVariables } from '../../support/variables.ts';

const Value = String(process.env.VIDEO_PROVIDER_KEY);
let isDown = true;
const store = await serve(async (request, response) => {
  await text(request);
  response.writeHead(isDown ? 500 : 200).end(JSON.stringify(isDown ? {} : { Parameter: { Value } }));
});
setVariables({ AWS_ENDPOINT_URL_SSM: store.url, VIDEO_PROVIDER_KEY: 'ssm:/key' });

describe("a provider's key that cannot be read", () => {
  test('costs nothing, and leaves the Idempotency-Key free', async () => {
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

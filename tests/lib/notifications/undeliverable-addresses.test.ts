import { describe, expect, test } from '@jest/globals';
import { countRequests } from '../../support/registry.ts';
import { pathOf } from '../../support/relay.ts';
import { proxyNames, simulation } from '../../support/proxies.ts';
import { accountOf, pay, spender, usageOf } from '../../support/spending.ts';
import { setVariables } from '../../support/variables.ts';

// Only the delivering function has the key.
setVariables({ NOTIFY_LOCALHOST: 'rejected', NOTIFICATION_SIGNING_KEY: '' });

const fieldOf = (name: string) => (name === 'relight-image' ? 'webhook_url' : 'callback_url');
const hook = 'https://caller.example.com/hook';

describe('a paid request whose caller gives an address that no notification could be sent to', () => {
  test.each(proxyNames)('rejects %s by the name of the field, and stores and sends nothing', async (name) => {
    const user = await spender();
    const { result, requests } = await countRequests(() =>
      pay(user, name, { body: { [fieldOf(name)]: 'http://caller.example.com/hook' } }),
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
  });

  // Each other kind of address: hostile-addresses.test.ts, by the same rule.
  test.each([
    ['a private address', 'https://10.0.0.1/'],
    ['more than 2,048 characters', `https://caller.example.com/${'a'.repeat(2022)}`],
    ['a host of more than 253 characters', `https://${'a.'.repeat(124)}example/`],
  ])('rejects %s', async (_, address) => {
    const { status, body } = await pay(await spender(), 'text-to-video', { body: { callback_url: address } });

    expect([status, body.error, body.details[0].path]).toEqual([400, 'invalid_request', 'body.callback_url']);
    expect(simulation.received).toEqual([]);
  });

  test('leaves its Idempotency-Key free for the request with another address', async () => {
    const user = await spender();
    const headers = { 'idempotency-key': 'corrected' };
    const first = await pay(user, 'text-to-video', { body: { callback_url: 'http://a.example' }, headers });
    const second = await pay(user, 'text-to-video', { body: { callback_url: hook }, headers });

    expect([first.status, second.status]).toEqual([400, 200]);
    expect(simulation.received).toHaveLength(1);
  });
});

test.each([
  'https://caller.example.com:8443/hook',
  'https://93.184.216.34/hook',
  'https://[2606:2800:220:1::1]/hook',
  // Only a look-up can tell where it leads.
  'https://localhost.example.com/',
])('takes a paid request with %s', async (address) => {
  const { status } = await pay(await spender(), 'text-to-video', { body: { callback_url: address } });

  expect(status).toBe(200);
  expect(pathOf(simulation.received[0]?.body.callback_url).provider).toBe('video');
});

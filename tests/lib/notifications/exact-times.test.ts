import { generateKeyPairSync } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { expect, jest, test } from '@jest/globals';
import { startNameServer } from '../../support/name-server.ts';
import { deliverOnce, resolver } from '../../../lib/notifications/deliver-once.ts';
import { loadAndPublishSigningKeys, readSigningKeys } from '../../../lib/notifications/signature.ts';
import { signingKeysKey } from '../../../lib/store/keys.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { beforeNext } from '../../support/intercept.ts';
import { countRequests, storedItem } from '../../support/registry.ts';
import { setVariables } from '../../support/variables.ts';
import { serve } from '../../support/serve.ts';
import net from 'node:net';

/** The store of secrets, with a key that can be replaced. */
let stored = newKey();
const store = await serve(async (request, response) => {
  await text(request);
  response.end(JSON.stringify({ Parameter: { Value: stored } }));
});
setVariables({ AWS_ENDPOINT_URL_SSM: store.url, NOTIFICATION_SIGNING_KEY: 'ssm:/key' });
const names = await startNameServer();

function newKey(): string {
  const { d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return `whsk_${Buffer.from(d, 'base64url').toString('base64')}`;
}

/** Moves only Date: what waits and what measures durations goes on. */
const start = Date.now();
function setClock(ms: number): void {
  jest.spyOn(Date, 'now').mockReturnValue(start + ms);
}

test('signs with a replaced key after one minute, not before, and publishes it although that fails at first', async () => {
  const shown = async () =>
    (await loadAndPublishSigningKeys({ deadline: Date.now() + 5000 })).map((key) => key.publicKey);
  const shownBy = (secret: string) => readSigningKeys(secret).map((key) => key.publicKey);
  setClock(60_000);
  const first = stored;
  expect(await shown()).toEqual(shownBy(first));
  stored = newKey();

  setClock(119_999);
  expect(await shown()).toEqual(shownBy(first));
  setClock(120_000);
  const lost = beforeNext(dynamodb, /^UpdateItemCommand$/, () => Promise.reject(new Error('not stored')));
  expect(await shown()).toEqual(shownBy(stored));
  expect(lost.happened()).toBe(true);
  const { requests } = await countRequests(async () => [await shown(), await shown()]);
  expect(requests).toEqual(['UpdateItemCommand']);
  const second = stored;
  stored = newKey();
  setClock(179_999);
  expect(await shown()).toEqual(shownBy(second));
  stored = second;
  const { pk, sk } = signingKeysKey;
  expect(await storedItem(pk, sk)).toMatchObject({ public_keys: shownBy(stored).join(' ') });
});

test('gives a try three seconds, including the lookup of its name', async () => {
  resolver.setServers([names.address]);
  setClock(0);
  Object.defineProperty(names.zone, 'slow.example.com', {
    get: () => {
      setClock(2900);
      return [['93.184.216.34']];
    },
  });
  // Nothing leaves this machine: the connection hangs.
  jest.spyOn(net.Socket.prototype, 'connect').mockReturnThis();
  const timers = jest.spyOn(globalThis, 'setTimeout');
  const content = { id: 'msg_1', body: '{}', content_type: 'application/json' };
  const result = await deliverOnce(
    { ...content, address: 'https://slow.example.com/' },
    readSigningKeys(stored),
  );

  expect(result).toEqual({ outcome: 'failed', error: 'timed_out' });
  expect(timers.mock.calls.map(([, ms]) => ms)).toContain(100);
});

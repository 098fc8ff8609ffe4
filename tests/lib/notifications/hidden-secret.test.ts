import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { cpuMsOf } from '@node-registry/testing/cpu';
import { simulation } from '../../support/proxies.ts';
import { notificationsOf } from '../../support/relay.ts';
import { hook, type Path, say, started } from '../../support/notified.ts';
import { findSecret, replaceOurUrl } from '../../../lib/notifications/notification-urls.ts';

let path: Path;
let ours: string;

beforeEach(async () => {
  path = await started();
  ours = `https://api.example.com/notifications/${path.provider}/${path.task}`;
});

/** What the caller is going to get of a body that the provider sends. */
async function delivered(rawBody: string): Promise<string> {
  expect((await say(path, {}, { rawBody })).status).toBe(200);
  return String((await notificationsOf(path.task))[0]?.body);
}

const slashed = (text: string) => text.replaceAll('/', '\\/');

describe('a notification that repeats our address', () => {
  test.each<[string, (address: string) => string, string]>([
    ['as it is', (address) => address, hook],
    ['with escaped slashes', slashed, hook],
    ['in an address', (address) => `https://a.example/?to=${address}`, `https://a.example/?to=${hook}`],
    ['percent-encoded', (address) => `to ${encodeURIComponent(address)}!`, `to ${hook}!`],
  ])('reaches the caller with its own address in the place of ours %s', async (_, spell, expected) => {
    const bodyWith = (text: string) =>
      `{ "state":"success", "callback_url":"${text}", "id":867913241582301184, "n":1.50}`;

    const common = `{"task_id":"${simulation.received[0]?.taskId}","media":[],"creations":[],`;
    expect(await delivered(bodyWith(spell(ours)))).toBe(bodyWith(expected).replace('{', common));
  });

  test.each<(address: string, secret: string) => string>([
    (address) => `{"state":"success","${address}":1}`,
    (address) => `{"state":"success","a":"${address}","a":1}`,
    (address) => `{"state":"success","a":"${address.slice(0, -1)}"}`,
    (_, secret) => `{"state":"success","a":["secret ${secret}"]}`,
    (address) => `{"state":"success","payload":${JSON.stringify(`{"a":"${slashed(address)}"}`)}}`,
  ])('reaches the caller as JSON without the secret, however it is repeated (%#)', async (bodyOf) => {
    const body = await delivered(bodyOf(ours, path.task));

    expect(JSON.parse(body)).toMatchObject({ state: 'success' });
    expect(body).not.toContain(path.task.slice(0, 12));
    expect(body).not.toContain(path.task.slice(-12));
  });
});

test('keeps an address with quotes and backslashes inside the text where it is put', () => {
  const text = replaceOurUrl(`{"a":"${ours}"}`, path.task, 'https://a.example/?"\\');

  expect(JSON.parse(text)).toEqual({ a: 'https://a.example/?%22%5C' });
});

test.each([
  ['backslashes', '\\'],
  ['schemes', 'https://'],
  ['digits', '0'],
])('searches a megabyte of %s in time', async (_, part) => {
  const text = part.repeat(2 ** 20 / part.length);
  const work = () => {
    expect(replaceOurUrl(text, randomBytes(32).toString('base64url'), hook)).toBe(text);
    expect(findSecret(text, '')).toBeUndefined();
  };

  expect(await cpuMsOf(work)).toBeLessThan(5000);
});

describe('a text that repeats our address very often', () => {
  const secret = 't'.repeat(43);
  const address = `https://caller.example.com/${'x'.repeat(2000)}`;

  test.each([
    ['our address', `https://api.example.com/notifications/video/${secret} `],
    ['the beginning of the secret', `${secret.slice(0, 12)} `],
    ['an address with the beginning of the secret', `http:${secret.slice(0, 12)} `],
  ])('grows by eight addresses at most where it repeats %s', (_, piece) => {
    const text = piece.repeat(Math.floor(1_000_000 / piece.length));
    const hidden = replaceOurUrl(text, secret, address);

    expect(hidden).not.toContain(secret.slice(0, 12));
    expect(hidden.length).toBeLessThanOrEqual(text.length + 8 * address.length);
    expect(hidden.split(address).length - 1).toBe(piece.startsWith('http') ? 8 : 0);
  });

  test('gets no address if the caller gave none', () => {
    expect(replaceOurUrl(`https://api.example.com/${secret}`, secret, undefined)).toBe('…');
  });
});

import { randomBytes } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { cpuMsOf } from '@node-registry/testing/cpu';
import { findSecret, replaceOurUrl } from '../../../lib/notifications/notification-urls.ts';
import { pathOf } from '../../support/relay.ts';
import { invoke, sampleBody } from '../../support/invoke.ts';
import { serve } from '../../support/serve.ts';
import { bearer } from '../../support/tokens.ts';
import { setVariables } from '../../support/variables.ts';

const hook = 'https://caller.example.com/hook?price=$&of=7';
const secret = randomBytes(32).toString('base64url');
const ours = `https://api.example.com/notifications/video/${secret}`;

const slashed = (text: string) => text.replaceAll('/', '\\/');

describe('a text of a provider that repeats our URL', () => {
  test.each([
    ['as it is', ours, hook],
    ['with escaped slashes', slashed(ours), hook],
    ['in an address', `https://a.example/?to=${ours}`, `https://a.example/?to=${hook}`],
    ['percent-encoded', `to ${encodeURIComponent(ours)}!`, `to ${hook}!`],
    ['as a name', `"},"${ours}":{"a":"`, `"},"${hook}":{"a":"`],
    ['cut off', ours.slice(0, -5), hook],
    ['without its beginning', `secret ${secret}`, 'secret …'],
    ['in JSON inside JSON', slashed(`{\\"a\\":\\"${ours}\\"}`), `{\\"a\\":\\"${hook}\\"}`],
  ])('has the caller’s own in its place: %s', (_, text, expected) => {
    const bodyWith = (part: string) => `{ "n":1.50, "a":"${part}" }`;

    expect(replaceOurUrl(bodyWith(text), secret, hook)).toBe(bodyWith(expected));
  });

  test('stays a text if the caller’s URL has quotes and backslashes, and gets none if it gave none', () => {
    const text = replaceOurUrl(`{"a":"${ours}"}`, secret, 'https://a.example/?"\\');

    expect(JSON.parse(text)).toEqual({ a: 'https://a.example/?%22%5C' });
    expect(replaceOurUrl(ours, secret, undefined)).toBe('…');
  });

  test.each(['\\', 'https://', '0'])('is searched in time if it is a megabyte of %s', async (part) => {
    const text = part.repeat(2 ** 20 / part.length);
    const work = () => {
      expect(replaceOurUrl(text, secret, hook)).toBe(text);
      expect(findSecret(text, '')).toBeUndefined();
    };

    expect(await cpuMsOf(work)).toBeLessThan(5000);
  });
});

/** A provider that repeats the URL that it is given, as the simulated ones do not. */
let given = '';
let answer: (url: string) => [status: number, body: object];
const provider = await serve(async (request, response) => {
  given = Object(await json(request)).callback_url;
  const [status, body] = answer(given);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
setVariables({ VIDEO_PROVIDER_URL: provider.url });
const { handler } = await import('../../../functions/text-to-video.ts');

const send = (headers = {}) =>
  invoke(handler, 'text-to-video', {
    body: { ...sampleBody('text-to-video'), callback_url: hook },
    headers: { authorization: bearer('echoed'), ...headers },
  });

describe('the answer to a paid request', () => {
  test('shows the caller’s own URL in the place of ours, also when it is replayed', async () => {
    answer = (url) => [200, { task_id: '1', credits: 1, payload: `to ${url}!`, prompt: pathOf(url).task }];
    const { body } = await send({ 'idempotency-key': 'echo' });

    expect(body).toMatchObject({ payload: `to ${hook}!`, prompt: '…' });
    expect((await send({ 'idempotency-key': 'echo' })).body).toEqual(body);
  });

  test('hides the secret in the message and the details of an error', async () => {
    // A longer text without blanks is hidden in any case.
    const said = (url: string) => `no answer from ${pathOf(url).task}`;
    answer = (url) => [400, { message: said(url), invalid_params: [{ name: 'x', reason: said(url) }] }];
    const { body, text } = await send();

    expect([body.error, body.details.length]).toEqual(['provider_rejected', 1]);
    expect(text).not.toContain(pathOf(given).task.slice(0, 12));
  });
});

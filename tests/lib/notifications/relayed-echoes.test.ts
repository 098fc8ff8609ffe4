import { json } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { pathOf } from '../../support/relay.ts';
import { invoke, type Result, sampleBody } from '../../support/invoke.ts';
import { serve } from '../../support/serve.ts';
import { bearer } from '../../support/tokens.ts';
import { setVariables } from '../../support/variables.ts';

/** A provider that repeats the address it is given, in ways that the simulated ones do not. */
let given = '';
let answer: (address: string) => [status: number, body: object];
const provider = await serve(async (request, response) => {
  given = Object(await json(request)).callback_url;
  const [status, body] = answer(given);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
setVariables({ VIDEO_PROVIDER_URL: provider.url });

const hook = 'https://caller.example.com/hook?price=$&of=7';
let send: (headers?: Record<string, string>) => Promise<Result>;

beforeAll(async () => {
  const { handler } = await import('../../../functions/text-to-video.ts');
  const body = { ...sampleBody('text-to-video'), callback_url: hook };
  send = (headers) =>
    invoke(handler, 'text-to-video', { body, headers: { authorization: bearer('echoed'), ...headers } });
});

const accepted = { task_id: '1', state: 'created', credits: 1 };

describe('an answer of a provider that repeats our address', () => {
  test('shows the caller’s own address in its place, also when it is replayed', async () => {
    answer = (address) => [200, { ...accepted, payload: `to ${address}!`, prompt: address }];
    const { status, body } = await send({ 'idempotency-key': 'echo' });
    const replayed = await send({ 'idempotency-key': 'echo' });

    expect(status).toBe(200);
    expect(body).toMatchObject({ payload: `to ${hook}!`, prompt: hook });
    expect(replayed.body).toEqual(body);
  });

  test('shows no part of the secret that is repeated in another way', async () => {
    answer = (address) => [200, { ...accepted, payload: pathOf(address).task.slice(0, 40) }];
    const { body } = await send();

    expect(body.payload).toBe('…');
  });

  test.each<(address: string) => string>([
    (address) => `cannot call "${address}"`,
    (address) => `cannot call "${address.slice(0, -5)}"`,
    (address) => `secret ${pathOf(address).task} is odd`,
  ])('omits the secret from an error, however it is repeated (%#)', async (sentence) => {
    answer = (address) => [
      400,
      { message: sentence(address), invalid_params: [{ name: 'callback_url', reason: sentence(address) }] },
    ];
    const { status, text, body } = await send();

    expect([status, body.error]).toEqual([400, 'provider_rejected']);
    expect(text).not.toContain(pathOf(given).task.slice(0, 12));
    expect(body.details).toHaveLength(1);
  });
});

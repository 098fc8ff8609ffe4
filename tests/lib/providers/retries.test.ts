import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { ProviderCall } from '../../../lib/providers/provider-call.ts';
import type { Provider } from '../../../lib/providers/exchange.ts';
import { storedSecret } from '../../../lib/aws/stored-secret.ts';
import { readRetryAfter } from '../../../lib/providers/reply.ts';
import { stopDate, stopTimers } from 'testing/clock';
import { invoke } from '../../support/invoke.ts';
import { acceptedTasks, misbehave, proxies, simulation } from '../../support/proxies.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

const generate = () => invoke(proxies['text-to-video'], 'text-to-video');

describe('a second attempt at a provider', () => {
  test.each([1, 3])('follows a 429 after the %i s that the provider asks for', async (retryAfter) => {
    misbehave({ kind: 'status', status: 429, retryAfter });
    const started = performance.now();
    const answer = await generate();

    expect(answer.status).toBe(200);
    expect(performance.now() - started).toBeGreaterThanOrEqual(1000 * retryAfter);
    expect(simulation.received).toHaveLength(2);
    expect(acceptedTasks()).toBe(1);
  });

  test('follows a 429 whose Retry-After is a date in the past', async () => {
    misbehave({ kind: 'status', status: 429, retryAfter: new Date(Date.now() - 60_000).toUTCString() });

    expect((await generate()).status).toBe(200);
  });

  test('ends the attempts, even if it fails too', async () => {
    misbehave({ kind: 'status', status: 429, retryAfter: 0 });
    misbehave({ kind: 'reset' });
    const { body } = await generate();

    expect(body.error).toBe('provider_timeout');
    expect(simulation.received).toHaveLength(2);
    expect(acceptedTasks()).toBe(1);
  });

  test('sends the same request again', async () => {
    misbehave({ kind: 'status', status: 429, retryAfter: 0 });
    await generate();

    const [first, second] = simulation.received;
    expect(second?.body).toEqual(first?.body);
    expect(second?.headers).toEqual(first?.headers);
  });

  test('ends by the deadline of both', async () => {
    stopTimers();
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const deadline = Date.now() + 3500;
    const answers: ServerResponse[] = [];
    const server = createServer((_, response) => void answers.push(response));
    const url = await listening(server);
    const call = new ProviderCall({ deadline }, providerAt(url), '/x');
    await call.prepare({});
    let isOver = false;
    const sending = call.startTask().finally(() => {
      isOver = true;
    });
    const refused = expect(sending).rejects.toMatchObject({ code: 'provider_timeout' });
    while (answers.length < 1) await turn();
    jest.advanceTimersByTime(1500);
    answers[0]?.writeHead(429, { 'retry-after': '0' }).end('{}');
    while (answers.length < 2) {
      await turn();
      jest.advanceTimersByTime(0);
    }
    jest.advanceTimersByTime(1999);
    for (let count = 0; count < 20; count += 1) await turn();
    expect(isOver).toBe(false);
    jest.advanceTimersByTime(1);

    await refused;
    server.closeAllConnections();
    server.close();
  });
});

describe('the Retry-After of a provider', () => {
  test.each([
    ['0', 0],
    ['120', 120_000],
    [' 5 ', 5000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['Thu Jan  1 00:00:00 1970', 0],
  ])('reads %j', (header, milliseconds) => {
    expect(readRetryAfter(header)).toBe(milliseconds);
  });

  test.each([
    undefined,
    ...'|-1|1.5|soon|1e9|99999999999|Xyz, 99 Foo|on Thu, 01 Jan 1970 00:00:00 GMT'.split('|'),
  ])('ignores %j', (header) => {
    expect(readRetryAfter(header)).toBeUndefined();
  });

  test('reads a date as the time until then', () => {
    stopDate(Date.UTC(2026, 0, 1));

    expect(readRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT')).toBe(60_000);
  });
});

function providerAt(url: string): Provider {
  return {
    name: 'video',
    url,
    key: storedSecret('a key'),
    keyHeader: 'x-key',
    keyScheme: '',
    echoesRequest: false,
  };
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

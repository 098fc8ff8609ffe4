import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { readSigningKeys } from '../../lib/notifications/signature.ts';
import { localEnvironment } from '../../tools/local/addresses.ts';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import { verifyNotification } from '../../packages/registry-client/notification.ts';
import { accessibilityProblems, hasBrowser, launchBrowser, note, openPage } from '../support/browser.ts';
import { startReceiver } from '../support/receiver.ts';

let stack: LocalStack;
const [receiver, leaving] = [await startReceiver(), await startReceiver()];
leaving.answers.push(410);

beforeAll(async () => {
  stack = await startLocalStack();
  // First, so that their notifications arrive while other tests run.
  await Promise.all(Object.values(receivers()).map(relight));
}, 60_000);

afterAll(() => Promise.all([stack?.stop(), receiver.stop(), leaving.stop()]));

interface Simulated {
  received: { body: Record<string, string> }[];
  tasks: { id: string; notifications: { state: string; answer: number | string }[] }[];
}

async function simulated(): Promise<Simulated> {
  return (await (await fetch(`${stack.simulatorsUrl}/control/record`)).json()) as Simulated;
}

function post(path: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${stack.token('OWNER')}` };
  return fetch(stack.apiUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Receivers that take a notification, that answer 404, and that answer 410. */
function receivers() {
  const { pagesUrl } = stack;
  return {
    taking: `${pagesUrl}/callbacks`,
    rejecting: `${pagesUrl}/nowhere`,
    gone: `${leaving.url}/hook`,
  };
}

function relight(webhook_url: string): Promise<Response> {
  return post('/proxy/image-provider/v1/ai/image-relight', {
    image: 'https://example.com/a.png',
    webhook_url,
  });
}

const callback_url = `${receiver.url}/hook`;

describe('npm start', () => {
  test('makes the simulated provider notify the local API of each state, and accepts every call', async () => {
    const answer = await post('/proxy/video-provider/text2video', { model: 'vidq3-pro', callback_url });
    const { task_id } = (await answer.json()) as { task_id: string };
    let last: Simulated['tasks'][number] | undefined;
    for (let turn = 0; turn < 100 && (last?.notifications.length ?? 0) < 3; turn += 1) {
      await pause(200);
      last = (await simulated()).tasks.find(({ id }) => id === task_id);
    }
    const { received } = await simulated();

    expect(last?.notifications).toEqual([
      { state: 'queueing', answer: 200 },
      { state: 'processing', answer: 200 },
      { state: 'success', answer: 200 },
    ]);
    expect(received.at(-1)?.body.callback_url).toMatch(
      new RegExp(`^${stack.apiUrl}/notifications/video/[\\w-]{43}$`),
    );
  }, 30_000);

  test('notifies the caller of each state, signed with the local key', async () => {
    for (let turn = 0; turn < 50 && receiver.received.length < 3; turn += 1) await pause(200);
    const [key] = readSigningKeys(localEnvironment.NOTIFICATION_SIGNING_KEY);
    const verified = await Promise.all(
      receiver.received.map(({ headers, body }) => verifyNotification(headers, body, String(key?.publicKey))),
    );

    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook']);
    expect(verified.map(({ payload }) => (payload as { state: string }).state)).toEqual([
      'queueing',
      'processing',
      'success',
    ]);
    expect(new Set(verified.map(({ id }) => id)).size).toBe(3);
  }, 20_000);

  test('answers 400 to a request whose address nothing may be sent to', async () => {
    const answer = await relight('https://127.0.0.2/hook');
    const { error, details } = (await answer.json()) as { error: string; details: { path: string }[] };

    expect([answer.status, error, details.map(({ path }) => path)]).toEqual([
      400,
      'invalid_request',
      ['body.webhook_url'],
    ]);
  });

  test('answers a forged call as any unknown path', async () => {
    const forged = await post(`/notifications/video/${'A'.repeat(43)}`, { state: 'success' });
    const unknown = await post('/nowhere', {});
    const bodies = [await forged.json(), await unknown.json()] as Record<string, string>[];

    expect([forged.status, unknown.status]).toEqual([404, 404]);
    for (const body of bodies) delete body.request_id;
    expect(bodies[0]).toEqual(bodies[1]);
  });
});

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser(`shows the deliveries on the home page, in a browser${note}`, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
  });

  afterAll(() => browser.close());

  test.each([1280, 360])(
    'show result, attempts, next attempt and error, and fit %d pixels',
    async (width) => {
      const { page, problems } = await openPage(browser, width);
      page.setDefaultTimeout(12_000);
      await page.goto(stack.pagesUrl);
      await page.getByRole('tab', { name: 'Tasks' }).click();
      for (const hasText of [
        /success: .*Sent on: delivered in 1 attempt.*signature valid/,
        /success: .*Sent on: pending in \d+ attempts?, answered_no 404, next at [\d:]+/,
        /success: .*Sent on: gone in 1 attempt/,
      ])
        await page.locator('#tasks > li', { hasText }).first().waitFor();

      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await accessibilityProblems(page)).toEqual([]);
      expect(problems).toEqual([]);
      await page.close();
    },
  );
});

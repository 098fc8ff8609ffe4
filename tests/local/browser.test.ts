import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import { accessibilityProblems, hasBrowser, launchBrowser, note, openPage } from '../support/browser.ts';
import { runProgram } from '../support/run-program.ts';

let stack: LocalStack;
let browser: Browser;
let page: Page;
let problems: string[];

const inBrowser = hasBrowser ? describe : describe.skip;

/** The page that is open, if it is that wide: another one would load and compile every script again. */
async function showPage(width: number): Promise<void> {
  if (page?.viewportSize()?.width === width) return;
  await page?.close();
  ({ page, problems } = await openPage(browser, width));
}

async function open(path: string, width: number): Promise<void> {
  await showPage(width);
  await page.goto(stack.pagesUrl + path);
}

function textOf(selector: string): Promise<string | null> {
  return page.locator(selector).textContent();
}

async function openHome(width: number): Promise<void> {
  await open('/', width);
  await page.locator('main:not([aria-busy])').waitFor();
}

const openTab = (name: string) => page.getByRole('tab', { name }).click();
const choose = (summary: string) => page.getByLabel('Call', { exact: true }).selectOption(summary);
const send = () => page.getByRole('button', { name: 'Send', exact: true }).click();
const item = (list: string, text: string | RegExp) =>
  page.locator(`#${list} > li`, { hasText: text }).first();

async function sendCall(summary: string): Promise<string> {
  await choose(summary);
  await send();
  await page.locator('#answer pre').waitFor();
  return String(await textOf('#answer pre'));
}

inBrowser(`the pages in a browser${note}`, () => {
  beforeAll(async () => {
    [stack, browser] = await Promise.all([startLocalStack(), launchBrowser()]);
  });

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  afterEach(async () => {
    // A page asks every second: a route that is still asking when the page goes would fail every test of the file.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(problems.splice(0)).toEqual([]);
  });

  describe.each([
    [1280, 'light'],
    [360, 'dark'],
  ] as const)('the home page at %d pixels in %s colors', (width, colorScheme) => {
    beforeEach(() => openHome(width));

    test('finishes both walk-throughs, and fits its width', async () => {
      await page.getByRole('button', { name: 'Publish a sample' }).click();
      await page.getByLabel('Prompt').fill('Fog over a harbor');
      await page.getByRole('button', { name: 'Make a video' }).click();
      await page.getByRole('link', { name: /See demo-node 1\.0\.\d+ in the registry/ }).waitFor();
      await page.locator('#video-status video').waitFor();

      expect(await page.locator('.flow li:not(.done)').count()).toBe(0);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      await openTab('Tasks');
      const timeline = page.locator('#tasks > li', { hasText: 'Fog over a harbor' });
      for (const hasText of [
        /Operation.*textToVideo.*Caller.*demo-owner.*Price.*20 credits/,
        /success: the provider notifies, and is answered 20\d/,
        /success: .*Sent on: delivered in 1 attempt.*Received at [\d:]+, signature valid/,
      ])
        await timeline
          .filter({ hasText, has: page.locator('video') })
          .first()
          .waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      await page.getByRole('link', { name: /See demo-node/ }).click();
      await page.locator('.host-node', { hasText: 'Blend Images (demo)' }).waitFor();
    });

    test('fits its width with the longest names, paths and sentences', async () => {
      const long = 'x'.repeat(200);
      await page.route('**/state', async (route) => {
        const response = await route.fetch();
        const { requests, simulators, ...others } = await response.json();
        const request = {
          ...{ at: new Date().toISOString(), id: long.slice(128), method: 'PUT', path: `/${long}` },
          ...{ caller: long, status: 404, ms: 1, code: 'node_not_found', message: long },
          details: [{ path: `body.${long}`, message: long }],
        };
        const task = { id: long, provider: long, credits: 1, state: long, prompt: long };
        const notifications = [{ at: request.at, id: long, task: long, state: 'success', signature: long }];
        const answered = { ...task, notifications: [{ state: long, answer: long }] };
        await route.fulfill({
          response,
          json: {
            ...others,
            requests: [request],
            notifications,
            simulators: { ...simulators, tasks: [answered] },
          },
        });
      });
      await page.route('**/records', async (route) => {
        const response = await route.fetch();
        const { callers } = await response.json();
        const caller = { user: long, windows: [], has_own_limits: true, blocked: long };
        const delivery = { id: long, state: long, result: 'failed', attempts: 8, last_error: long };
        const notified = [{ task_id: long, operation: long, caller: long, notifications: [delivery] }];
        await route.fulfill({ response, json: { callers: [caller, ...callers], notified } });
      });
      for (const [tab, list] of [
        ['Requests', 'requests'],
        ['Tasks', 'tasks'],
        ['Usage', 'callers'],
      ] as const) {
        await openTab(tab);
        await item(list, 'xxx').waitFor();

        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
    });

    test('passes the checks of axe', async () => {
      await page.emulateMedia({ colorScheme });
      await sendCall('Update a host node');
      for (const tab of ['Calls', 'Tasks', 'Usage', 'Requests', 'Break it']) {
        await openTab(tab);

        expect(await accessibilityProblems(page)).toEqual([]);
      }
    });
  });

  describe('the home page', () => {
    beforeEach(() => openHome(1280));

    test('sends a call by keyboard, and shows its response and its line in the log', async () => {
      await choose('Generate a video from text');
      await page.getByRole('button', { name: 'Send', exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.locator('#answer pre').waitFor();
      const answer = await textOf('#answer pre');
      const [, id = ''] = /x-request-id: (\S+)/.exec(String(answer)) ?? [];

      expect(answer).toMatch(/200 in \d+ ms\s.*x-credits-used: 20\s.*"state": "created"/s);
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      await page.waitForFunction('document.activeElement?.id === "send"');
      await page.getByRole('tab', { name: 'Calls' }).focus();
      for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('ArrowRight');
      expect(await item('requests', id).textContent()).toMatch(
        /^200POST \/proxy\/video-provider\/text2video.*, demo-owner, \d+ ms, 20 credits, request /,
      );
    });

    test('shows how much of a limit is used, and when a call over it works again', async () => {
      const user = 'demo-member';
      const limit = ['run', 'admin', '--', 'limit', 'set', user, '--tasks-per-day', '1'];
      const { status } = await runProgram('npm', limit, { environment: stack.environment });
      await page.getByLabel('As', { exact: true }).selectOption(user);
      const first = await sendCall('Relight an image');
      await send();
      await page.locator('#answer pre', { hasText: '429' }).waitFor();

      expect(status).toBe(0);
      expect(first).toMatch(/^200 in .*x-credits-used: 1\s/ms);
      expect(await textOf('#answer pre')).toMatch(/retry-after: \d+\s.*"error": "budget_exhausted"/s);
      await openTab('Usage');
      await item('callers', /^demo-member ?Limits of its own.*Tasks today.*1 of 1/).waitFor();
    });

    test('shows why a story failed until its next try, however often it is refreshed', async () => {
      const refreshed = () => page.waitForResponse('**/records');
      await openTab('Break it');
      await page
        .getByRole('group', { name: 'Video provider' })
        .getByRole('button', { name: 'Rejects' })
        .click();
      await item('armed', 'Rejects').waitFor();
      await page.setViewportSize({ width: 360, height: 640 });
      await page.getByRole('button', { name: 'Make a video' }).click();
      const alert = page.getByRole('alert').filter({ hasText: 'That did not work: ' });
      await alert.waitFor();
      const box = await alert.boundingBox();
      expect(Number(box?.y)).toBeGreaterThan(0);
      expect(Number(box?.y) + Number(box?.height)).toBeLessThanOrEqual(640);
      for (let refreshes = 0; refreshes < 3; refreshes += 1) await refreshed();

      expect(await alert.textContent()).toMatch(/The image shows nothing|rejected/);
      expect(await textOf('#video-status')).toBe('');
      await page.getByRole('button', { name: 'Make a video' }).click();
      await page.locator('#video-status video').waitFor();
      expect(await alert.count()).toBe(0);
    });

    test.each(['', '   '])('makes no video of the prompt "%s"', async (prompt) => {
      const paid: string[] = [];
      page.on('request', (request) => request.url().includes('text2video') && paid.push(request.url()));
      await page.getByLabel('Prompt').fill(prompt);
      await page.getByRole('button', { name: 'Make a video' }).click();
      await page.waitForResponse('**/records');

      expect(await page.evaluate('document.activeElement.id')).toBe('prompt');
      expect(paid).toEqual([]);
    });

    test('says that the stack does not answer for as long as it does not', async () => {
      const alert = page.getByRole('alert').filter({ hasText: 'The local stack does not answer.' });
      await page.route('**/records', (route) => route.abort());
      await alert.waitFor();
      await page.unroute('**/records');

      await alert.waitFor({ state: 'hidden' });
    });

    test('shows the caller, the code, the sentence and the details of a rejected request', async () => {
      const headers = { authorization: `Bearer ${stack.token('ADMIN')}`, 'content-type': 'application/json' };
      const rejected = { method: 'POST', headers, body: '{"promt":"x","wm_position":9}' };
      const { headers: answered } = await fetch(`${stack.apiUrl}/proxy/video-provider/text2video`, rejected);

      await openTab('Requests');
      const shown = String(await item('requests', String(answered.get('x-request-id'))).textContent());
      expect(shown).toMatch(/^400POST .*demo-admin.*invalid_request: The request is not valid\./);
      expect(shown).toMatch(/body\.promt is unknown; did you mean `prompt`\?.*body\.wm_position must be/);
    });

    test('sends a call as another user, or without a token', async () => {
      await page.getByLabel('As', { exact: true }).selectOption('nobody, without a token');
      expect(await sendCall('Update a node')).toContain('401');
      await page.getByLabel('As', { exact: true }).selectOption('demo-member');
      await send();

      await page.locator('#answer', { hasText: '403' }).waitFor();
    });

    test('publishes a fresh version with each call, and shows it as curl and TypeScript', async () => {
      const first = await sendCall('Publish a node version');
      await page.getByRole('button', { name: 'Upload a small archive' }).click();
      await page.getByText('Uploaded. The version is active').waitFor();
      await choose('Update a node');
      const second = await sendCall('Publish a node version');

      expect(first).toContain('201 in');
      expect(second).toContain('201 in');
      expect(await page.getByLabel('Path').inputValue()).toBe('/publishers/demo/nodes/demo-node/versions');
      expect(await textOf('#as-curl pre')).toMatch(
        /^curl -X POST 'http.*\/publishers\/demo\/nodes\/demo-node\/versions'/,
      );
      expect(await textOf('#as-typescript pre')).toContain(
        "registry.versions.register('demo', 'demo-node', {",
      );
    });

    test('shows no empty state while it is loading', async () => {
      const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      await page.route('**/records', async (route) => {
        asked.resolve();
        await held.promise;
        await route.continue();
      });
      await page.reload();
      await openTab('Tasks');
      await asked.promise;
      expect(await textOf('main')).not.toMatch(/No task yet|No request yet|Nobody has sent/);
      held.resolve();

      await item('tasks', /./).waitFor();
    });

    test('makes providers misbehave, and lists the faults still to come', async () => {
      await openTab('Break it');
      const image = page.getByRole('group', { name: 'Image provider' });
      await image.getByRole('button', { name: 'Busy' }).click();
      await item('armed', 'Image provider, the next call: Busy (429)').waitFor();
      await image.getByRole('button', { name: 'Rejects' }).click();
      await item('armed', 'Image provider, the next call: Rejects (400)').waitFor();
      expect(await page.locator('#armed li').count()).toBe(2);
      await openTab('Calls');
      expect(await sendCall('Relight an image')).toContain('"provider_busy"');
      await openTab('Break it');
      await page.waitForFunction("document.querySelectorAll('#armed li').length === 1");
      await item('armed', 'Rejects').waitFor();
      await page.getByRole('button', { name: 'Out of credits' }).click();
      await item('armed', 'out of credits').waitFor();
      await page.getByRole('button', { name: 'Undo all' }).click();

      await item('armed', 'Nothing: both providers work as they should.').waitFor();
    });

    test('keeps the film that is playing while it is refreshed', async () => {
      await page.getByRole('button', { name: 'Make a video' }).click();
      await openTab('Tasks');
      await page.locator('#tasks video').first().waitFor();
      await page.evaluate("document.querySelector('#tasks video').dataset.mark = 'same'");
      await fetch(`${stack.apiUrl}/while-it-plays`);
      await openTab('Requests');
      await item('requests', '/while-it-plays').waitFor();

      expect(await page.locator('#tasks video[data-mark]').count()).toBe(1);
    });
  });

  test('shows the demo node from the index on the site, and leads back to the home page', async () => {
    await open('/site/index.html', 1280);
    await page.locator('#results a[href="#/nodes/demo-node"]').click();
    await page.locator('.host-node', { hasText: 'Blend Images (demo)' }).waitFor();
    await page.getByRole('link', { name: 'Local stack' }).click();

    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
  });

  describe('the API reference', () => {
    const title = 'Node registry and media generation proxy';

    /** The form for trying an operation out. */
    async function openForm(tag: string, operation: string) {
      await page.goto(`${stack.pagesUrl}/reference/#tag/${tag}/${operation}`);
      await page.locator(`section[id$="${operation}"] button`, { hasText: 'Test Request' }).first().click();
    }

    const fill = (header: string, value: string) =>
      page.locator(`tr[id="${header}"] [data-placeholder="Value"]`).fill(value);

    /** The headers with which the form then sent its call, and the answer. */
    async function sendForm() {
      const [request] = await Promise.all([
        page.waitForRequest((sent) => sent.url().startsWith(stack.apiUrl) && sent.method() !== 'OPTIONS'),
        page.getByRole('button', { name: /^Send (put|post) request/i }).click(),
      ]);
      const response = await request.response();
      return { sent: request.headers(), status: response?.status(), answered: response?.headers() ?? {} };
    }

    async function closeForm() {
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    }

    describe.each([1280, 360])('at %d pixels', (width) => {
      // Its viewer takes seconds to load, so all tests of a width look at one page.
      beforeAll(async () => {
        await showPage(width);
        const held = Promise.withResolvers<void>();
        await page.route('**/scalar.js', async (route) => {
          await held.promise;
          await route.continue();
        });
        await page.goto(`${stack.pagesUrl}/reference/`, { waitUntil: 'commit' });
        await page.getByText('POST /bulk/nodes/versions').waitFor();
        held.resolve();
        await page.getByRole('heading', { name: title }).waitFor();
      });

      test('replaces the list of operations when its viewer is there', async () => {
        expect(await page.getByRole('heading', { name: 'API reference' }).count()).toBe(0);
      });

      test('speaks English, fits its width, and asks no other machine', async () => {
        expect(await page.getAttribute('html', 'lang')).toBe('en');
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        // The viewer's own: its examples, which are shown as one scrolls, are pale, and their copy buttons have no name.
        expect(await accessibilityProblems(page, ['pre', '.scalar-code-copy'])).toEqual([]);
      });

      test('sends If-Match, x-request-id and the local token', async () => {
        await openForm('registry', 'PUT/publishers/{publisherId}/nodes/{nodeId}');
        await fill('If-Match', '"999"');
        await fill('x-request-id', 'from-the-reference');
        const button = await page.getByRole('button', { name: /^Send put request/i }).boundingBox();
        const { sent, status, answered } = await sendForm();
        await closeForm();

        expect(sent).toMatchObject({
          ...{ 'if-match': '"999"', 'x-request-id': 'from-the-reference' },
          authorization: `Bearer ${stack.token('OWNER')}`,
        });
        expect([status, answered['x-request-id']]).toEqual([412, 'from-the-reference']);
        expect(Number(button?.x) + Number(button?.width)).toBeLessThanOrEqual(width);
      });

      // Once, since the viewer takes seconds to load.
      if (width === 360)
        test('sends Idempotency-Key, so that a second call is a replay, and another token', async () => {
          const key = 'sent-by-the-reference';
          await openForm('videos', 'POST/proxy/video-provider/text2video');
          await fill('Idempotency-Key', key);
          await page
            .getByRole('dialog')
            .getByRole('textbox', { name: /Bearer Token/ })
            .fill(stack.token('ADMIN'));
          const first = await sendForm();
          const second = await sendForm();
          await closeForm();

          expect(first.sent).toMatchObject({
            ...{ 'idempotency-key': key, authorization: `Bearer ${stack.token('ADMIN')}` },
          });
          expect([first.status, second.status]).toEqual([200, 200]);
          expect([first, second].map(({ answered }) => answered['idempotent-replayed'])).toEqual([
            undefined,
            'true',
          ]);
        });

      test('leads back to the home page', async () => {
        await page.getByRole('link', { name: 'Node registry: local stack' }).click();
        await page.getByRole('heading', { name: 'Publish nodes, and make videos' }).waitFor();
      });
    });
  });

  test('lets the API reference send every header that the document names', async () => {
    const { components } = JSON.parse(await readFile('docs/openapi.json', 'utf8'));

    expect(Object.keys(components.parameters).sort()).toEqual([
      'Idempotency-Key',
      'If-Match',
      'x-request-id',
    ]);
  });
});

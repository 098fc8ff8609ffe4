import { mkdir } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import { accessibilityProblems, hasBrowser, launchBrowser, note, openPage } from '../support/browser.ts';

// The reference takes seconds to start where other tests run at the same time.
jest.setTimeout(40_000);

const pictures = '.pictures';

let stack: LocalStack;
let browser: Browser;
let page: Page;
let problems: string[];

const inBrowser = hasBrowser ? describe : describe.skip;

async function open(path: string, width: number): Promise<void> {
  ({ page, problems } = await openPage(browser, width));
  page.setDefaultTimeout(12_000);
  await page.goto(stack.pagesUrl + path);
}

function textOf(selector: string): Promise<string | null> {
  return page.locator(selector).textContent();
}

async function openHome(width: number): Promise<void> {
  await open('/', width);
  await page.locator('#operations[aria-busy]').waitFor({ state: 'detached' });
}

const send = (summary: string) => page.getByRole('button', { name: `Send: ${summary}` });
const item = (list: string, text: string | RegExp) =>
  page.locator(`#${list} > li`, { hasText: text }).first();

inBrowser(`in a browser${note}`, () => {
  beforeAll(async () => {
    await mkdir(pictures, { recursive: true });
    [stack, browser] = await Promise.all([startLocalStack(), launchBrowser()]);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  afterEach(async () => {
    expect(problems).toEqual([]);
    await page.close();
  });

  describe.each([1280, 360])('the home page at %d pixels', (width) => {
    beforeEach(() => openHome(width));

    test('shows what runs and the demo data, and fits its width', async () => {
      await item('published', 'demo-node 1.0.0').getByText('Active').waitFor();
      await page.screenshot({ path: `${pictures}/home-${width}.png`, fullPage: true });

      expect(await page.locator('#running .good').count()).toBe(5);
      expect(await page.locator('#operations > li').count()).toBe(8);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    });

    test('fits its width with the longest names, paths and sentences', async () => {
      const long = 'x'.repeat(200);
      await page.route('**/state', async (route) => {
        const response = await route.fetch();
        const { requests, ...others } = await response.json();
        const details = [{ path: `body.${long}`, message: long }];
        const request = {
          at: new Date().toISOString(),
          id: long.slice(128),
          method: 'PUT',
          path: `/${long}`,
        };
        const answer = { caller: long, status: 404, ms: 1, code: 'node_not_found', message: long, details };
        const notifications = [{ at: request.at, id: long, task: long, state: 'success', signature: long }];
        const logs = { requests: [{ ...request, ...answer }], notifications };
        await route.fulfill({ response, json: { ...others, ...logs } });
      });
      await page.route('**/records', async (route) => {
        const response = await route.fetch();
        const { published, callers } = await response.json();
        const [version] = published;
        const host_nodes = [{ host_node_name: long, category: long, function: long, return_types: long }];
        const named = { node_id: long.slice(100), status_reason: long, host_nodes, publisher_id: long };
        const provenance = { repository: long, workflow: long, run: long, commit: long, ref: long };
        const other = { ...version, ...named, id: long, provenance };
        const caller = { user: long, windows: [], has_own_limits: true, blocked: long };
        const notification = { id: long, state: 'success', result: 'failed', attempts: 8, last_error: long };
        const task = { at: version.createdAt, task_id: long, operation: long, caller: long, address: long };
        const notified = [{ ...task, state: 'success', notifications: [notification] }];
        await route.fulfill({
          response,
          json: { published: [other, ...published], callers: [caller, ...callers], notified },
        });
      });
      await item('requests', 'PUT /xxx').waitFor();
      await item('published', 'xxx').locator('summary').click();
      await item('callers', 'xxx').waitFor();
      await item('notifications', 'xxx').waitFor();
      await item('deliveries', 'xxx').waitFor();

      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    });

    test('sends a call by keyboard and shows its answer, its request, its task and its callbacks', async () => {
      await send('Generate a video from text').focus();
      await page.keyboard.press('Enter');
      await page.locator('#answer pre').waitFor();
      const answer = await textOf('#answer');
      const [, id = ''] = /x-request-id: (\S+)/.exec(String(answer)) ?? [];

      expect(answer).toMatch(/200 in \d+ ms\s.*x-credits-used: 20\s.*"state": "created"/s);
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      expect(await item('requests', id).textContent()).toMatch(
        /^200POST \/proxy\/video-provider\/text2video.*, demo-owner, \d+ ms, 20 credits, request /,
      );
      await item('tasks', '→ 200').waitFor();
      await page.waitForFunction('document.activeElement?.ariaLabel === "Send: Generate a video from text"');
    });

    test('lets one set a limit, meet it, read when it works again, and take it away', async () => {
      const sendPaid = () => page.getByRole('button', { name: 'Send a paid request' }).click();
      const answered = (text: RegExp) => page.locator('#limit-answer', { hasText: text }).waitFor();
      const user = width === 360 ? 'demo-admin' : 'demo-member';
      const usage = (text: string) => item('callers', new RegExp(`^${user} ?${text}`)).waitFor();
      await page.getByLabel('Caller', { exact: true }).selectOption(user);
      await page.getByLabel('Tasks per day').fill('1');
      await page.getByRole('button', { name: 'Set limits' }).click();
      await answered(/The limits are set/);
      await sendPaid();
      await answered(/200.*X-Credits-Used: 1.*RateLimit: "tasks-per-day";r=0;t=\d+/);
      await sendPaid();
      await answered(/429 budget_exhausted.*Retry-After: \d+ s: works again at \d\d:\d\d:\d\d/);
      await usage('Limits of its own.*Tasks today: 1 of 1');
      await page.getByRole('button', { name: 'Remove limits' }).click();
      await answered(/There is no limit any more/);
      await sendPaid();

      await answered(/200.*X-Credits-Used: 1/);
      await usage('Credits today: 2, no limit');
    });

    test.each(['light', 'dark'] as const)('works for all readers, in %s colors', async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await send('Update a host node').click();
      await page.locator('#answer pre').waitFor();

      expect(await page.getAttribute('html', 'lang')).toBe('en');
      expect(await accessibilityProblems(page)).toEqual([]);
    });
  });

  describe('the home page', () => {
    test.each([
      ['javascript:document.title="run"', false],
      [' Java\nScript:document.title="run"', false],
      ['vbscript:run', false],
      ['data:text/html,<b>run</b>', false],
      ['https://example.com/film.mp4', true],
    ])(
      'puts an address that others wrote into a link only if no page would run it: %j',
      async (address, isLinked) => {
        await open('/', 1280);
        const at = new Date().toISOString();
        await page.route('**/state', async (route) => {
          const response = await route.fetch();
          const notifications = [
            { at, id: 'a', task: 'told', state: 'success', signature: 'valid', media: address },
          ];
          const parts = [{ name: 'told', url: address, isUp: true }];
          await route.fulfill({ response, json: { ...(await response.json()), notifications, parts } });
        });
        await page.route('**/records', async (route) => {
          const response = await route.fetch();
          const { published, ...others } = await response.json();
          const version = { ...published[0], id: 'told', node_id: 'told', downloadUrl: address };
          await route.fulfill({ response, json: { ...others, published: [version] } });
        });
        for (const list of ['notifications', 'running', 'published']) {
          const link = item(list, 'told').locator('a');
          await link.waitFor();
          expect([list, await link.evaluate((made) => made.hasAttribute('href'))]).toEqual([list, isLinked]);
        }
      },
    );

    beforeEach(() => openHome(1280));

    test('shows the caller, the code, the sentence and the details of a rejected request', async () => {
      const headers = { authorization: `Bearer ${stack.token('ADMIN')}`, 'content-type': 'application/json' };
      const rejected = { method: 'POST', headers, body: '{"promt":"x","wm_position":9}' };
      const { headers: answered } = await fetch(`${stack.apiUrl}/proxy/video-provider/text2video`, rejected);

      const shown = String(await item('requests', String(answered.get('x-request-id'))).textContent());
      expect(shown).toMatch(/^400POST .*demo-admin.*invalid_request: The request is not valid\./);
      expect(shown).toMatch(/body\.promt is unknown; did you mean `prompt`\?.*body\.wm_position must be/);
    });

    test('sends a call as another user, or as nobody', async () => {
      await page.getByLabel('Send as').selectOption('nobody, without a token');
      await send('Update a node').click();
      await page.locator('#answer', { hasText: '401' }).waitFor();
      await item('requests', /401PUT .*unknown.*unauthorized: /).waitFor();
      await page.getByLabel('Send as').selectOption('demo-member');
      await send('Update a node').click();

      await item('requests', /403PUT .*demo-member.*forbidden: /).waitFor();
    });

    test('shows what is published from its registration to its host nodes', async () => {
      const node = 'published-here';
      await page.route('**/openapi.json', async (route) => {
        const response = await route.fetch();
        const text = (await response.text()).replaceAll('"demo-node"', `"${node}"`);
        await route.fulfill({ response, body: text });
      });
      await page.reload();
      await page.locator('#operations[aria-busy]').waitFor({ state: 'detached' });
      await send('Publish a node version').click();
      await item('published', node).getByText('Pending').waitFor();
      expect(await item('published', node).textContent()).toContain('Waiting for the archive');
      await page.getByRole('button', { name: 'Upload a small archive' }).click();
      await item('published', node).getByText('Active').waitFor();

      await item('published', node)
        .getByText(/Host nodes: (\d+ host node|none could be read)/)
        .waitFor();
      const link = await page.getByRole('link', { name: `Download ${node}` }).getAttribute('href');
      expect((await fetch(String(link))).status).toBe(200);
    });

    test('makes providers misbehave, and says what is still to come', async () => {
      const image = page.getByRole('group', { name: 'Image provider' });
      await image.getByRole('button', { name: 'Busy' }).click();
      await item('armed', 'Image provider, the next call: Busy (429)').waitFor();
      await image.getByRole('button', { name: 'Refuses' }).click();
      await item('armed', 'Image provider, the next call: Refuses (400)').waitFor();
      expect(await page.locator('#armed li').count()).toBe(2);
      await send('Relight an image').click();
      await page.locator('#answer', { hasText: '"provider_busy"' }).waitFor();
      await item('requests', /429POST .*provider_busy/).waitFor();
      expect(await page.locator('#armed li').count()).toBe(1);
      await page.getByRole('button', { name: 'Out of credits' }).click();
      await item('armed', 'out of credits').waitFor();
      await page.getByRole('button', { name: 'Undo all' }).click();

      await item('armed', 'Nothing: both providers work as they should.').waitFor();
    });

    test('keeps the focus, and what is open, while it is refreshed', async () => {
      await send('Fetch many node versions').click();
      await page.locator('#published summary').first().focus();
      await page.keyboard.press('Enter');
      await fetch(`${stack.apiUrl}/bulk/nodes/versions`, { method: 'POST', body: '{"node_versions":[]}' });
      await item('requests', /no token/).waitFor();

      expect(await page.locator('#published details[open] summary:focus').count()).toBe(1);
    });
  });

  test('shows the demo node from the index on the site, and leads back to the home page', async () => {
    await open('/site/index.html', 1280);
    await page.getByRole('link', { name: 'demo-node' }).click();
    await page.locator('.host-node', { hasText: 'Blend Images (demo)' }).waitFor();
    await page.getByRole('link', { name: 'Local stack' }).click();

    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
  });

  describe.each([1280, 360])('the API reference at %d pixels', (width) => {
    /** The form for trying an operation out. */
    async function openForm(tag: string, operation: string) {
      await open(`/reference/#tag/${tag}/${operation}`, width);
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

    test('speaks English, fits its width, and asks no other machine', async () => {
      await open('/reference/', width);
      await page.getByRole('heading', { name: 'Node registry and media generation proxy' }).waitFor();
      await page.screenshot({ path: `${pictures}/reference-${width}.png` });

      expect(await page.getAttribute('html', 'lang')).toBe('en');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    });

    test('sends If-Match, x-request-id and the local token', async () => {
      await openForm('registry', 'PUT/publishers/{publisherId}/nodes/{nodeId}');
      await fill('If-Match', '"999"');
      await fill('x-request-id', 'from-the-reference');
      const button = await page.getByRole('button', { name: /^Send put request/i }).boundingBox();
      const { sent, status, answered } = await sendForm();
      await page.screenshot({ path: `${pictures}/reference-call-${width}.png` });

      expect(sent).toMatchObject({
        ...{ 'if-match': '"999"', 'x-request-id': 'from-the-reference' },
        authorization: `Bearer ${stack.token('OWNER')}`,
      });
      expect([status, answered['x-request-id']]).toEqual([412, 'from-the-reference']);
      expect(Number(button?.x) + Number(button?.width)).toBeLessThanOrEqual(width);
    });

    test('sends Idempotency-Key, so that a second call is a replay, and another token', async () => {
      await openForm('videos', 'POST/proxy/video-provider/text2video');
      await fill('Idempotency-Key', `key-${width}`);
      await page
        .getByRole('dialog')
        .getByRole('textbox', { name: /Bearer Token/ })
        .fill(stack.token('ADMIN'));
      const first = await sendForm();
      const second = await sendForm();

      expect(first.sent).toMatchObject({
        ...{ 'idempotency-key': `key-${width}`, authorization: `Bearer ${stack.token('ADMIN')}` },
      });
      expect([first.status, second.status]).toEqual([200, 200]);
      expect([first, second].map(({ answered }) => answered['idempotent-replayed'])).toEqual([
        undefined,
        'true',
      ]);
    });
  });

  test('lets the API reference send every header that the document names', async () => {
    await open('/openapi.json', 1280);
    const { components } = JSON.parse(String(await textOf('body')));

    expect(Object.keys(components.parameters).sort()).toEqual([
      'Idempotency-Key',
      'If-Match',
      'x-request-id',
    ]);
  });
});

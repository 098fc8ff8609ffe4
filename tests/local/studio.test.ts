import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { accessibilityProblems, inBrowser, openPage } from '@node-registry/testing/browser';
import type { Page } from 'playwright-core';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import '../support/in-order.ts';

/** The studio as a newcomer uses it: our client in a browser, the API, both simulators. */

let stack: LocalStack;
let page: Page;
let problems: string[];

inBrowser('the studio in a browser', () => {
  beforeAll(async () => {
    stack = await startLocalStack(undefined, []);
  });

  afterAll(() => stack?.stop());

  beforeEach(async () => {
    ({ page, problems } = await openPage(1280));
    await page.goto(stack.pagesUrl);
  });

  afterEach(async () => {
    expect(problems).toEqual([]);
    await page.context().close();
  });

  const card = (words: string | RegExp) => page.locator('.task', { hasText: words });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const tasks = async () => {
    const record = await (await fetch(`${stack.simulatorsUrl}/control/record`)).json();
    return (record as { tasks: object[] }).tasks.length;
  };

  test('makes a film for at most the credits that it showed, extends it, and counts both', async () => {
    await page.getByLabel('Duration').fill('3');
    await page.getByText('12 credits', { exact: true }).waitFor();
    await page.getByText('Show as client code').click();
    expect(await page.getByText('await registry.videos.fromText({').textContent()).toContain('duration: 3,');
    await button('Make the film').click();
    await page.locator('video').waitFor();
    const playing = `new Promise((end) => (document.querySelector('video').ontimeupdate = (event) => end(event.target.videoWidth)))`;
    expect(await page.evaluate(playing)).toBe(160);
    await page.locator('.task').getByRole('button', { name: 'Extend' }).click();
    await page.getByLabel('Prompt').fill('the sun comes out');
    await button('Extend the film').click();
    await card(/the sun comes out.*success/).waitFor();

    expect(await page.locator('.task').allTextContents()).toEqual([
      expect.stringContaining('extend · 20 credits'),
      expect.stringContaining('film · 12 credits'),
    ]);
    // The studio's own reads would hide the others.
    expect(await page.locator('.requests').textContent()).toMatch(/^(?=.*POST)(?!.*GET \/users\/)/s);
    await page.getByRole('link', { name: 'Spending' }).click();
    await page.getByText('32 credits, 2 tasks').waitFor();
    expect(await page.getByText('of 2,000; 2 tasks').count()).toBe(1);
  });

  test('shows why a task failed on request, with its request’s error, body and log line', async () => {
    const before = await tasks();
    await page.getByLabel('Simulated failure').selectOption('[reject]');
    await button('Make the film').click();
    await card('The prompt asks for it').waitFor();
    await page.getByRole('link', { name: 'Requests' }).click();
    await page.locator('.requests summary', { hasText: 'text2video' }).first().click();
    const shown = await page.locator('.requests details[open]').textContent();

    for (const text of ['"error":"provider_rejected"', '[reject]"', '"event": "request"'])
      expect(shown).toContain(text);
    expect((await tasks()) - before).toBe(0);
    await page.getByRole('link', { name: 'Spending' }).click();
    await page.getByText('0 under way, 1 failed').waitFor();
  });

  test('uploads a dropped picture that is too large for a request, and shows it relit', async () => {
    const files = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      data.items.add(new File([crypto.getRandomValues(new Uint8Array(60_000)), new Uint8Array(20e6)], 'big.png'));
      return data;
    })()`);
    await button('Relight').click();
    await page.getByLabel('Prompt').fill('a large one');
    await page.locator('.drop').first().dispatchEvent('drop', { dataTransfer: files });
    await page.getByText('big.png, 20.1 MB', { exact: true }).waitFor();
    await page.getByText('Show as client code').click();
    await page.getByText('await openAsBlob("big.png")').waitFor();
    await button('Relight the picture').click();
    await card(/a large one.*success/).waitFor();

    const shown = `document.querySelector('.task img').decode().then(() => document.querySelector('.task img').naturalWidth)`;
    expect(await page.evaluate(shown)).toBeGreaterThan(0);
  });

  test('goes on with a film after a reload, and pays once', async () => {
    const before = await tasks();
    await page.getByLabel('Prompt').fill('once');
    await Promise.all([page.waitForResponse('**/text2video'), button('Make the film').click()]);
    await page.reload();
    await card(/once.*success/).waitFor();

    expect((await tasks()) - before).toBe(1);
  });

  test('lists the example nodes of the stack, which lead to their pages', async () => {
    await page.goto(`${stack.pagesUrl}/#registry`);
    const status = page.getByRole('status').filter({ hasText: '13 nodes' });
    // Each view reads the index anew.
    while ((await status.count()) === 0) {
      await page.reload();
      await page.getByText('by registry.nodes.list()').waitFor();
    }
    await page.getByLabel('Search').fill('calligraphy');
    await page.getByRole('link', { name: 'خط النور' }).click();

    const title = page.getByRole('heading', { level: 1, name: 'خط النور' });
    await title.waitFor();
    // Downloads are counted after the nodes are published.
    while ((await page.locator('.spark').count()) === 0) {
      await page.reload();
      await title.waitFor();
    }
    await page.waitForFunction(`document.querySelector('.icon img')?.naturalWidth === 48`);
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  test.each(['studio', 'requests', 'spending', 'registry', 'tokens'])(
    '#%s passes axe in both color schemes, and fits its width, at 360 pixels',
    async (view) => {
      await page.setViewportSize({ width: 360, height: 800 });
      await page.goto(`${stack.pagesUrl}/#${view}`);
      await page.locator('.top [aria-current]').waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });

        expect(await accessibilityProblems(page)).toEqual([]);
      }
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    },
  );
});

import { mkdir } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import { hasBrowser, launchBrowser, note, openPage } from '../support/browser.ts';

const pictures = '.pictures';

let stack: LocalStack;
let browser: Browser;
let page: Page;
let problems: string[];

const inBrowser = hasBrowser ? describe : describe.skip;

async function open(path: string, width: number): Promise<void> {
  ({ page, problems } = await openPage(browser, width));
  page.setDefaultTimeout(8000);
  await page.goto(stack.pagesUrl + path);
}

function textOf(selector: string): Promise<string | null> {
  return page.locator(selector).textContent();
}

inBrowser(`in a browser${note}`, () => {
  beforeAll(async () => {
    await mkdir(pictures, { recursive: true });
    [stack, browser] = await Promise.all([startLocalStack(), launchBrowser()]);
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await stack.stop();
  });

  afterEach(async () => {
    expect(problems).toEqual([]);
    await page.close();
  });

  describe.each([1280, 390])('the home page at %d pixels', (width) => {
    beforeEach(async () => {
      await open('/', width);
      await page.locator('#operations li').nth(7).waitFor();
      await page.locator('#versions tr').first().waitFor();
    });

    test('shows what runs and the demo data, and fits its width', async () => {
      await page.screenshot({ path: `${pictures}/home-${width}.png`, fullPage: true });

      expect(await page.locator('#running .good').count()).toBe(5);
      expect(await textOf('#versions')).toMatch(/1\.0\.0ActiveDownload/);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    });

    test('fits its width with a long route in the last requests', async () => {
      await page.route('**/state', async (route) => {
        const response = await route.fetch();
        const { requests, ...others } = await response.json();
        const long = { at: new Date().toISOString(), route: `PUT /${'x'.repeat(200)}`, status: 404, ms: 1 };
        await route.fulfill({ response, json: { ...others, requests: [long, ...requests] } });
      });
      await page.locator('#requests tr', { hasText: 'PUT /xxx' }).first().waitFor();

      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    });

    test('sends a call by keyboard and shows its answer, its task and its callbacks', async () => {
      await page.getByRole('button', { name: 'Send: Generate a video from text' }).focus();
      await page.keyboard.press('Enter');
      await page.locator('#answer pre').waitFor();

      expect(await textOf('#answer')).toMatch(/200 in \d+ ms\s.*"state": "created"/s);
      await page
        .locator('#requests tr', { hasText: /POST \/proxy\/video-provider\/text2video200/ })
        .first()
        .waitFor();
      await page.locator('#tasks', { hasText: '→ 204' }).waitFor();
    });

    test('makes a provider misbehave once', async () => {
      const send = page.getByRole('button', { name: 'Send: Relight an image' });
      await page.getByRole('group', { name: 'Image provider' }).getByRole('button', { name: 'Busy' }).click();
      await page.locator('#armed', { hasText: 'Busy' }).waitFor();
      await send.click();
      await page.locator('#answer', { hasText: '"provider_busy"' }).waitFor();
      await send.click();

      await page.locator('#answer', { hasText: '"task_id"' }).waitFor();
      await page.locator('#requests tr', { hasText: '429provider_busy' }).first().waitFor();
    });
  });

  describe('the API reference', () => {
    test('sends a call with the local token and no request to another machine', async () => {
      await open('/reference/#tag/registry/PUT/publishers/{publisherId}/nodes/{nodeId}', 1280);
      await page
        .locator('section[id$="PUT/publishers/{publisherId}/nodes/{nodeId}"] button', { hasText: 'Test' })
        .click();
      await page.getByRole('button', { name: /^Send put request/i }).click();
      await page.getByText('200 OK').first().waitFor();
      await page.screenshot({ path: `${pictures}/reference-call.png` });
    }, 20_000);

    test('fits a phone', async () => {
      await open('/reference/', 390);
      await page.getByRole('heading', { name: 'Node registry and media generation proxy' }).waitFor();
      await page.screenshot({ path: `${pictures}/reference-390.png` });

      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    }, 20_000);
  });
});

import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityProblems, inBrowser, openPage } from '@node-registry/testing/browser';
import { listed, manyNodes, version } from './listed-nodes.ts';
import { type SiteHost, serveSite } from './serve-files.ts';

const hostNodes = Array.from({ length: 13 }, (_, place) => ({
  host_node_name: `Mix${place}`,
  input_types:
    '{"required":{"reference_image_embedding_of_the_subject":["MODEL"],"share":["FLOAT",{"default":0.5}]}}',
  return_types: '["IMAGE"]',
  ...(place === 0 && { conditional: true, left_open: ['category: it is not known'] }),
}));
const text = `# Relight\n\nA [guide](https://guide.example).\n\n| Option | Meaning |\n|---|---|\n| \`share\` | How much |
${'\nA line.\n'.repeat(99)}\n## Middle\n${'\nA line.\n'.repeat(99)}`;
const relight = listed(
  'relight',
  {
    name: 'Relight',
    description: 'Lights a picture again.',
    tags: ['image'],
    readme: text,
    versions: [version('relight', '2.0.0'), version('relight', '1.0.0', { deprecated: true })],
  },
  hostNodes,
);
const registry = [relight, listed('c-plus', { name: 'C++ tools' }), ...manyNodes(4000)];

let host: SiteHost;
let page: Page;
let problems: string[];

inBrowser('the site in a browser', () => {
  beforeAll(async () => {
    host = await serveSite(registry);
  });

  afterAll(() => host.stop());

  afterEach(async () => {
    expect(problems.filter((problem) => !/404/.test(problem))).toEqual([]);
    await page.close();
  });

  const open = async (path: string, pixels = 1280) => {
    ({ page, problems } = await openPage(pixels));
    await page.goto(host.url + path);
  };
  const names = () => page.locator('#results h3 a').allTextContents();
  const status = (text: string | RegExp) => page.locator('#search-status', { hasText: text }).waitFor();

  const opened = [
    '/',
    '/search',
    '/nodes',
    '/nodes/Relight',
    '/nodes/relight/1.0.0',
    '/publishers/acme',
    '/lost',
  ];

  // At 1,280 pixels axe finds nothing else.
  test.each(opened)('%s passes axe in both color schemes, and fits 360 pixels', async (path) => {
    await open(path, 360);
    if (path === '/search') await status('The most used nodes');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });

      expect(await accessibilityProblems(page)).toEqual([]);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });

  const asked = () => host.asked.map(({ path }) => path).filter((path) => !path.endsWith('.png'));

  test('shows the most used first, and finds the rest by a few small files', async () => {
    host.asked.length = 0;
    await open('/search');
    await status('The most used nodes');
    await page.locator('#results > li').nth(19).waitFor();
    const files = ['parts.css', 'search-worker.js', 'search.js', 'site.css'].map((name) => `site/${name}`);
    expect(asked().sort()).toEqual(['index/v1/top.json', 'site/index.html', ...files]);
    for (const [typed, first] of [
      ['sampler 3975', 'sampler depth 3975'],
      ['relihgt', 'Relight'],
      ['erlight', 'Relight'],
      ['c++', 'C++ tools'],
    ] as const) {
      await page.getByLabel('Search').fill('');
      await page.getByLabel('Search').pressSequentially(typed);
      await status(/^\d+ nodes?$/);
      expect((await names())[0]).toBe(first);
    }
    await page.getByLabel('Search').fill('+');
    await status('No node matches');
    expect(await page.evaluate('history.length')).toBe(2);
    expect(asked().filter((path) => path.includes('/catalog/'))).toEqual([]);
    expect(host.asked.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(100_000);
  });

  test('loads the whole catalog, once, for an order by date or a text that no small file has', async () => {
    await open('/search?q=sampler&order=newest');
    await page.locator('#results > li').nth(19).waitFor();
    expect(await names()).toHaveLength(20);
    host.asked.length = 0;
    await page.getByLabel('Search').fill('zampler');
    await status(/^[\d,]+ nodes$/);

    expect(asked().filter((path) => path.includes('/catalog/'))).toEqual([]);
  });

  test('leads back to the place in the list', async () => {
    await open('/search?q=sampler');
    await status(/nodes$/);
    await page.getByRole('button', { name: /Show more/ }).click();
    const link = page.locator('#results > li:nth-child(35) h3 a');
    await link.scrollIntoViewIfNeeded();
    const before = await page.evaluate<number>('scrollY');
    await link.click();
    await page.waitForURL('**/nodes/*');
    await page.goBack();
    await status(/nodes$/);

    await page.locator('#results > li').nth(39).waitFor();
    expect(before).toBeGreaterThan(500);
    expect(Math.abs((await page.evaluate<number>('scrollY')) - before)).toBeLessThan(200);
    expect(await page.getByLabel('Search').inputValue()).toBe('sampler');
  });

  test('filters host nodes, copies the line that installs, and goes to a heading', async () => {
    await open('/nodes/relight');
    await page.evaluate(
      'navigator.clipboard.writeText = (text) => Promise.resolve(globalThis.copied = text)',
    );
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('globalThis.copied')).toMatch(/^curl -fLo relight-2\.0\.0\.zip /);
    await page.getByRole('link', { name: 'Host nodes' }).click();
    await page.getByLabel('Filter').fill('mix12');

    expect(await page.locator('.host-node:visible h3').allTextContents()).toEqual(['Mix12']);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(`${host.url}/nodes/relight#readme-middle`);
    expect((await page.locator('#readme-middle').boundingBox())?.y).toBeCloseTo(128, -1);
  });

  test('uses each control, and never replaces a newer answer by an older, slower one', async () => {
    await open('/search');
    await status('The most used nodes');
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/nodes/relight.json', (route) => held.then(() => route.continue()));
    const asked = page.waitForRequest('**/nodes/relight.json');
    await page.getByLabel('Search').fill('relight');
    await asked;
    await page.getByLabel('Search').fill('c++');
    await status(/^1 node$/);
    const late = page.waitForResponse('**/nodes/relight.json');
    release();
    await late;
    expect(await names()).toEqual(['C++ tools']);
    await page.getByLabel('Search').fill('');
    for (const [name, value, sentence] of [
      ['order', 'name', /^4,002 nodes$/],
      ['tag', 'image', /^1 node$/],
      ['system', 'linux', 'No node matches'],
      ['accelerator', 'cuda', 'No node matches'],
    ] as const) {
      await page.locator(`#search-${name}`).selectOption(value);
      await status(sentence);
      expect(new URL(page.url()).searchParams.get(name)).toBe(value);
    }
  });

  test('says that the index cannot be read, and tries again', async () => {
    ({ page, problems } = await openPage(1280));
    await page.route('**/index/**', (route) => route.fulfill({ status: 404 }));
    await page.goto(`${host.url}/search?q=relight`);
    await status('Nothing is published yet at');
    await page.unroute('**/index/**');
    await page.getByRole('button', { name: 'Try again' }).click();

    await status(/^1 node$/);
  });
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { hasBrowser, launchBrowser, note, openPage } from 'testing/browser';
import { listed, version } from './listed-nodes.ts';
import { type SiteHost, serveSite } from './serve-files.ts';

const run = 'window.ran = true';
const markup = `<img src=x onerror="${run}"><script>${run}</script>`;
const turned = `\u202egnp.exe\u2066 ${markup}`;
/** The API rejects such an address, but a reader must not depend on that. */
const placeholder = 'https://script.invalid/';
const long = 'x'.repeat(20_000);

const readme = `# ${markup}

<script>${run}</script>
<img src="x" onerror="${run}">
<svg onload="${run}"><script>${run}</script></svg>
<a href="javascript:${run}" onclick="${run}" onmouseover="${run}">first</a>
<a href=" java&#x0A;script:${run}">second</a>
[third](javascript:${encodeURIComponent(run)}) [fourth](data:text/html,<script>${run}</script>)
[fifth](vbscript:x) ![](javascript:${run})
<iframe srcdoc="<script>parent.ran = true</script>"></iframe>
<object data="data:text/html,<script>${run}</script>"></object><embed src="javascript:${run}">
<form action="https://thief.example/"><input name="attributes"><button formaction="javascript:${run}">Go</button></form>
<style>body { display: none }</style><link rel="stylesheet" href="https://thief.example/a.css">
<div style="position:fixed;inset:0;background:red" id="main" class="skip">over the page</div>
<meta http-equiv="refresh" content="0;url=https://thief.example/"><base href="https://thief.example/">

| ${'wide | '.repeat(80)}
|${'---|'.repeat(80)}

${'> '.repeat(500)}deep

\`\`\`
${long}
\`\`\`

<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${run}&gt;">
`;

const fields = {
  ...{ name: turned, description: markup + long, author: turned, license: long, category: markup },
  ...{ icon: `${placeholder}${run}`, repository: `${placeholder}${run}`, tags: [markup, turned, long] },
  publisher: {
    ...{ id: 'acme', name: turned, website: `data:text/html,<script>${run}</script>` },
    support: 'https://user:password@thief.example/',
  },
};
const wide = long.slice(0, 1000);
const hostNodes = Array.from({ length: 3000 }, (_, place) => ({
  host_node_name: `${markup} ${place}`,
  ...{ display_name: place % 2 ? turned : wide, category: wide, description: wide },
  input_types: JSON.stringify({
    required: {
      [markup]: [markup, {}],
      [long.slice(0, 500)]: ['STRING', { default: markup + long.slice(0, 500) }],
    },
    optional: {
      __proto__: ['constructor', {}],
      list: [[markup, turned], { default: { toString: 1 } }],
      odd: null,
    },
  }),
  return_types: place % 3 ? JSON.stringify([markup, null, 7, [turned]]) : wide,
}));
const hostile = listed(
  'hostile',
  {
    ...fields,
    readme,
    versions: [
      version('hostile', '1.0.0', {
        ...{ downloadUrl: `javascript:${run}`, changelog: markup + long },
        ...{ dependencies: [markup, ...Array.from({ length: 300 }, () => long.slice(0, 200))] },
        provenance: {
          issuer: turned,
          repository: markup,
          commit: long,
          ref: turned,
          workflow: markup,
          run: long,
        },
      }),
    ],
  },
  hostNodes,
);
const quoted = listed("it's; $(touch x)", { versions: [version("it's; $(touch x)", '1.0.0')] });

let host: SiteHost;
let browser: Browser;

const inBrowser = hasBrowser ? describe : describe.skip;

async function open(hash: string, width: number) {
  const { page, problems } = await openPage(browser, width);
  page.on('dialog', (dialog) => problems.push(`dialog ${dialog.message()}`));
  page.on('framenavigated', (frame) => {
    if (!frame.url().startsWith(host.url)) problems.push(`went to ${frame.url()}`);
  });
  await page.goto(host.url + hash);
  return { page, problems };
}

async function pressEverything(page: Page): Promise<void> {
  await page.evaluate(`for (const each of document.querySelectorAll('main *'))
    for (const type of ['mouseover', 'focus', 'error', 'load', 'toggle', 'pointerenter'])
      each.dispatchEvent(new Event(type))`);
}

inBrowser(`hostile content in a browser${note}`, () => {
  beforeAll(async () => {
    [host, browser] = await Promise.all([serveSite([hostile, quoted]), launchBrowser()]);
    for (const [path, text] of host.index) host.index.set(path, text.replaceAll(placeholder, 'javascript:'));
  });

  afterAll(async () => {
    await browser.close();
    host.stop();
  });

  test.each([1280, 360])('runs nothing and leaves the layout whole at %d pixels', async (width) => {
    const { page, problems } = await open('#/', width);
    await page.locator('#search-status', { hasText: '2 nodes' }).waitFor();
    await pressEverything(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    await page.locator('#results a').first().click();
    await page.locator('.readme pre').first().waitFor();
    await page.locator('.host-node').first().waitFor();
    await pressEverything(page);

    expect(await page.evaluate('window.ran')).toBeUndefined();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(await page.locator('.host-node').count()).toBe(24);
    const addresses: string[] = await page.evaluate(
      "[...document.querySelectorAll('main [href], main [src]')].map((each) => each.href ?? each.src)",
    );
    expect(addresses.filter((address) => !address.startsWith(host.url))).toEqual([]);
    expect(
      await page.evaluate(
        "document.querySelectorAll('main :is(script, style, iframe, object, embed, form form, svg, math, meta, base, [style*=position], [onclick])').length",
      ),
    ).toBe(0);
    expect(await page.locator('#main').count()).toBe(1);
    expect(await page.locator('.copyable').count()).toBe(0);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('sets a policy under which neither markup nor a script of the page’s text can be added', async () => {
    const { page } = await open('#/', 1280);
    await page.addScriptTag({ content: run }).catch(() => undefined);
    const attempts: string[] = await page.evaluate(`[
      () => { document.body.innerHTML = '<b></b>'; },
      () => document.createElement('script').text = 'window.ran = true',
      () => setTimeout('window.ran = true'),
    ].map((attempt) => { try { attempt(); return 'done'; } catch (error) { return error.name; } })`);

    expect(attempts).toEqual(['TypeError', 'TypeError', 'TypeError']);
    expect(await page.evaluate('window.ran')).toBeUndefined();
    await page.close();
  });

  test('quotes what comes from the index in the line that installs', async () => {
    const { page } = await open(`#/nodes/${encodeURIComponent("it's; $(touch x)")}`, 1280);

    expect(await page.locator('.copyable pre').textContent()).toMatch(
      /^curl -fLo 'it'\\''s; \$\(touch x\)-1\.0\.0\.zip' 'https:/,
    );
    await page.close();
  });
});

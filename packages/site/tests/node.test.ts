import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { hasBrowser, launchBrowser, note, openPage } from 'testing/browser';
import { until } from 'testing/until';
import { hostNodesPath, nodePath, readmePath } from 'registry-rules/index-paths';
import { listed, version } from './listed-nodes.ts';
import { type SiteHost, serveSite } from './serve-files.ts';

const createdAt = '2026-05-01T11:00:00.000Z';
const labels = Array.from({ length: 12 }, (_, place) => `1.${11 - place}.0`);
const [newest, ...older] = labels.map((label) => version('whole', label, { createdAt }));
const versions = [
  {
    ...newest,
    ...{
      status: 'NodeVersionStatusFlagged' as const,
      status_reason: 'A check is due.',
      size_bytes: 1_250_000,
    },
    ...{ changelog: 'Faster.', supported_host_version: '>=3', supported_os: ['Linux', 'Windows'] },
    supported_accelerators: ['CUDA', 'ROCm'],
  },
  { ...older[0], size_bytes: 999, deprecated: true },
  ...older.slice(1),
];
const hostNodes = Array.from({ length: 13 }, (_, place) => ({
  host_node_name: `Mix${place}`,
  ...{ category: 'image', description: `Mixes ${place}.`, policy: 'HostNodePolicyBanned' as const },
  ...{ deprecated: true, input_types: '{}' },
}));
const whole = listed('whole', {
  ...{ name: 'Whole', description: 'All of it.', author: 'Ann', license: 'LICENSE', category: 'image' },
  ...{ tags: ['a', 'b'], repository: 'https://code.example/whole', versions },
  publisher: { id: 'acme', name: 'Acme', website: 'https://acme.example/', support: 'mailto:a@acme.example' },
});
const files = (node: string, hosts: object) =>
  JSON.stringify({ node_id: node, version: labels[0], host_node_extract_status: 'success', ...hosts });

let host: SiteHost;
let browser: Browser;
let page: Page;
let problems: string[];

(hasBrowser ? describe : describe.skip)(`the page of a node in a browser${note}`, () => {
  beforeAll(async () => {
    [host, browser] = await Promise.all([serveSite([whole, listed('other')]), launchBrowser()]);
  });

  afterAll(async () => {
    await browser.close();
    host.stop();
  });

  beforeEach(async () => {
    host.disturb = undefined;
    const readme = {
      node_id: 'whole',
      version: labels[0],
      path: 'README.rst',
      text: 'Whole\u202e\n=====',
      is_cut: true,
    };
    host.index.set(readmePath('whole'), JSON.stringify(readme));
    host.index.set(hostNodesPath('whole', String(labels[0])), files('whole', { host_nodes: hostNodes }));
    ({ page, problems } = await openPage(browser, 1280));
  });

  afterEach(() => page.close());

  const section = (name: string) => page.getByRole('region', { name, exact: true });
  const shown = async (name: string) => (await section(name).textContent())?.replaceAll(/\s+/g, ' ');

  test('shows everything that the index says of it', async () => {
    await page.goto(`${host.url}#/nodes/whole`);
    await section('README').locator('pre').waitFor();
    await section('Host nodes').locator('.host-node').first().waitFor();

    expect(await page.title()).toBe('Whole · Node registry');
    expect(await shown('About the node')).toBe(
      'WWholewhole by AcmeAll of it.abRepositorycode.example/wholeWebsiteacme.example/Supportmailto:a@acme.exampleAuthorAnnLicenseLICENSECategoryimage',
    );
    expect(await page.locator('main .notice').allTextContents()).toEqual(['A check is due.']);
    expect(await shown('Install')).toBe(
      `Install 1.11.0Run it in the folder where the host looks for nodes. It checks that the bytes are those that were published.curl -fLo whole-1.11.0.zip https://downloads.example/archives/whole/1.11.0.zip && echo '${'ab'.repeat(32)} whole-1.11.0.zip' | sha256sum --check && unzip -d whole whole-1.11.0.zipCopyDownload the archive (1.3 MB)`,
    );
    expect(await shown('About the version')).toBe(
      `Version 1.11.0PublishedMay 1, 2026Published bya person, with a personal access tokenWhat changedFaster.SHA256${'ab'.repeat(32)}Host version>=3SystemsLinux, WindowsAcceleratorsCUDA, ROCmNeedsno other packages`,
    );
    expect(await shown('Versions')).toBe(
      `Versions1.11.0 latestunder review May 1, 2026, 1.3 MB1.10.0 deprecated May 1, 2026, 999 bytes${[9, 8, 7, 6, 5, 4, 3, 2].map((minor) => `1.${minor}.0 May 1, 2026, 12.3 kB`).join('')}Show more (2 left)`,
    );
    expect(await shown('README')).toBe('READMEWhole =====The rest of it is in the archive.');
    expect(await section('Host nodes').locator('.host-node').first().textContent()).toBe(
      'Mix0deprecatedbannedMixes 0.Mix0 in image',
    );
    expect(problems).toEqual([]);
  });

  test('filters its host nodes by every word', async () => {
    await page.goto(`${host.url}#/nodes/whole`);
    const filter = section('Host nodes').getByLabel('Filter');
    await filter.waitFor();
    expect(await section('Host nodes').getByRole('status').textContent()).toBe('13 host nodes');
    await filter.fill('MIX 12');

    expect(await section('Host nodes').getByRole('status').textContent()).toBe('1 of 13 host nodes');
    expect(await section('Host nodes').locator('.host-node h3').allTextContents()).toEqual(['Mix12']);
  });

  test('shows more versions on request, and goes on there by keyboard', async () => {
    await page.goto(`${host.url}#/nodes/whole`);
    await section('Versions').getByRole('button').click();

    expect(await section('Versions').getByRole('link').allTextContents()).toEqual(labels);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('1.1.0');
    expect(await section('Versions').getByRole('button').count()).toBe(0);
  });

  test.each([
    ['Copied', 'Promise.resolve(globalThis.copied = text)'],
    ['Not copied', 'Promise.reject(new Error())'],
  ])('says of its line that it is %s, and then offers that again', async (label, result) => {
    await page.clock.install();
    await page.addInitScript(`navigator.clipboard.writeText = (text) => ${result}`);
    await page.goto(`${host.url}#/nodes/whole`);
    const button = (name: string) => section('Install').getByRole('button', { name, exact: true });
    await button('Copy').click();
    await button(label).waitFor();
    await page.clock.runFor(2000);
    await button('Copy').waitFor();
    const copied = label === 'Copied' ? await section('Install').locator('pre').textContent() : undefined;

    expect(await page.evaluate('globalThis.copied')).toBe(copied);
  });

  test.each([
    ['pending', [], 'The host nodes are still being read from the archive. Look again in a minute.'],
    ['failed', [], 'No host node could be read from the archive. It is too large.'],
    ['failed', [hostNodes[0]], 'Not all host nodes could be read from the archive. It is too large.'],
  ])(
    'says of host nodes that are %s why they lack: %j',
    async (host_node_extract_status, host_nodes, sentence) => {
      const reason = { host_node_extract_status, host_node_extract_reason: 'It is too large.' };
      host.index.set(hostNodesPath('whole', String(labels[0])), files('whole', { ...reason, host_nodes }));
      await page.goto(`${host.url}#/nodes/whole`);
      await section('Host nodes').getByText(sentence, { exact: true }).waitFor();

      expect(await section('Host nodes').locator('.host-node').count()).toBe(host_nodes.length);
    },
  );

  test.each(['host-nodes.json', 'readme.json'])('tries again if %s cannot be read', async (file) => {
    host.disturb = async (path) => (path.endsWith(file) ? 500 : undefined);
    await page.goto(`${host.url}#/nodes/whole`);
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    host.disturb = undefined;
    await again.click();

    await section('README').locator('pre').waitFor();
    await section('Host nodes').locator('.host-node').first().waitFor();
    expect(await page.locator('.notice.bad').count()).toBe(0);
  });

  // The client asks again after a 500.
  test.each([
    [200, 1],
    [500, 2],
  ])('stays if a node that was left answers late: %i', async (late, answers) => {
    const held = Promise.withResolvers<number | undefined>();
    host.disturb = async (path) => (path === nodePath('whole') ? held.promise : undefined);
    await page.goto(`${host.url}#/nodes/whole`);
    await page.getByText('Loading…').waitFor();
    await page.evaluate('location.hash = "#/nodes/other"');
    await page.getByRole('heading', { level: 1, name: 'other' }).waitFor();
    await section('Install').waitFor();
    let answered = 0;
    page.on('requestfinished', (request) => {
      if (request.url().endsWith(nodePath('whole'))) answered += 1;
    });
    held.resolve(late === 200 ? undefined : late);
    await until(() => answered === answers);
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))');

    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('other');
    expect(await page.title()).toBe('other · Node registry');
  });

  test('says of a node without a version that none can be installed', async () => {
    host.index.set(
      nodePath('whole'),
      JSON.stringify({ ...whole.node, versions: [], latest_version: undefined }),
    );
    await page.goto(`${host.url}#/nodes/whole`);
    await page.locator('.notice', { hasText: 'No version of this node can be installed.' }).waitFor();
    host.index.set(nodePath('whole'), JSON.stringify(whole.node));

    expect(await page.getByRole('region').count()).toBe(1);
  });
});

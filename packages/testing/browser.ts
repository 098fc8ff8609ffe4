import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { afterAll, describe } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';

const path = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** Tests that need a browser. */
export function inBrowser(title: string, tests: () => void): void {
  if (existsSync(path)) describe(title, tests);
  else
    describe.skip(`${title} (skipped: there is no Chromium at ${path}; CHROMIUM_PATH may name one)`, tests);
}

/** Debian's Chromium runs as root in most containers, without a sandbox. It must not call home. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Shorter than a test's, so that a failed wait is named. */
const timeout = 50_000;

/** The test file's own, from its first page to its end. */
let browser: Promise<Browser> | undefined;

afterAll(async () => (await browser)?.close());

interface Watched {
  page: Page;
  /** Script errors of the page, and requests to other machines. Both must stay empty. */
  problems: string[];
}

export async function openPage(width: number): Promise<Watched> {
  browser ??= chromium.launch({ executablePath: path, args: flags, timeout });
  const page = await (await browser).newPage({ viewport: { width, height: 900 } });
  page.setDefaultTimeout(timeout);
  const problems: string[] = [];
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith('http') && url.hostname !== 'localhost') problems.push(request.url());
  });
  return { page, problems };
}

/** An open page that plays a film or polls would slow other tests down. */
export async function closePages(): Promise<void> {
  await Promise.all(((await browser)?.contexts() ?? []).map((context) => context.close()));
}

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** The violations that axe finds outside these elements, each with the element. */
export async function accessibilityProblems(page: Page, exclude: string[] = []): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(await readFile(axePath, 'utf8'));
  // Describing passes takes longer than finding violations.
  const options = { resultTypes: ['violations'] };
  const { violations }: { violations: Violation[] } = await page.evaluate(
    `axe.run(${JSON.stringify({ exclude })}, ${JSON.stringify(options)})`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 300)} ${failureSummary}`),
  );
}

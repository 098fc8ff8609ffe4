import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Browser, chromium, type Page } from 'playwright-core';

const path = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

export const hasBrowser = existsSync(path);
export const note = hasBrowser
  ? ''
  : ` (skipped: there is no Chromium at ${path}; CHROMIUM_PATH may name one)`;

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

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: path, args: flags });
}

interface Watched {
  page: Page;
  /** Script errors of the page, and requests to other machines. Both must stay empty. */
  problems: string[];
}

export async function openPage(browser: Browser, width: number): Promise<Watched> {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  const problems: string[] = [];
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith('http') && url.hostname !== 'localhost') problems.push(request.url());
  });
  return { page, problems };
}

/** Texts that are hard to see, controls without a name, and headings that skip a level. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  return page.evaluate(await readFile('tests/support/accessibility.js', 'utf8'));
}

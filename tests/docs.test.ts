import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildDocs } from '../tools/openapi/docs.ts';
import { hasBrowser, launchBrowser, note, openPage } from './support/browser.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'node-registry-docs-'));
  await buildDocs(folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('npm run docs', () => {
  test('writes a page, its script and the document, without tokens or addresses of this machine', async () => {
    const page = await readFile(join(folder, 'index.html'), 'utf8');
    const scripts = [...page.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, address]) => address);

    expect((await readdir(folder)).sort()).toEqual(['index.html', 'js', 'openapi.json']);
    expect(scripts).toEqual(['js/scalar.js']);
    expect(page).not.toContain('"token"');
  });

  const inBrowser = hasBrowser ? test : test.skip;
  inBrowser(
    `shows the reference from any folder of a file server without requests to other machines${note}`,
    async () => {
      const server = await serveFiles();
      const browser = await launchBrowser();
      const { page, problems } = await openPage(browser, 1280);
      try {
        await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/some/folder/`);
        // The operations themselves are below the introduction, and drawn when they are scrolled to.
        await page.getByRole('heading', { name: 'Node registry and media generation proxy' }).waitFor();
        await page.getByText('Fetch many node versions').first().waitFor();
      } finally {
        await browser.close();
        server.close();
      }

      expect(problems).toEqual([]);
    },
  );
});

async function serveFiles(): Promise<Server> {
  const server = createServer(async ({ url = '' }, response) => {
    const file = url.replace('/some/folder/', '') || 'index.html';
    const types: Record<string, string> = {
      html: 'text/html',
      js: 'text/javascript',
      json: 'application/json',
    };
    response.setHeader('content-type', types[file.split('.').at(-1) ?? ''] ?? '');
    response.end(await readFile(join(folder, file)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { localStores } from '../../packages/admin/local-stack.ts';
import { createRegistryClient } from '../../packages/registry-client/client.ts';
import { type LocalStack, startLocalStack } from '../local/spawn-stack.ts';
import { type Figure, inTurns, quantile } from './figures.ts';

const bytesPerMs = 12_500;
const pairs = Array.from({ length: 1000 }, (_, index) => ({ node_id: `pack-${index}`, version: '1.0.0' }));

/** What gzip saves of a bulk of 1,000 pairs, and how long its callers wait with it and without, at 100 Mbit/s. */
export async function measureCompression(rounds: number): Promise<Figure[]> {
  const stack = await startLocalStack();
  const [gzip, plain] = await Promise.all([openLine(stack.apiUrl, true), openLine(stack.apiUrl, false)]);
  try {
    await fill(stack);
    const clientTimes = await inTurns(rounds, { gzip: askByClient(gzip.url), plain: askByClient(plain.url) });
    const browserTimes = await inBrowser(stack.pagesUrl, (ask) =>
      inTurns(rounds, { gzip: () => ask(gzip.url), plain: () => ask(plain.url) }),
    );
    return [
      { ...figure('bulk of 1,000, gzip', 'KB', gzip.sizes()), usual: quantile(plain.sizes(), 0.5) },
      {
        ...figure('bulk of 1,000, gzip over plain', 'times', shares(gzip.sizes(), plain.sizes())),
        reach: 0.1,
      },
      ...both('typed client, 100 Mbit/s', clientTimes),
      ...both('Chromium, 100 Mbit/s', browserTimes),
    ];
  } finally {
    gzip.server.close().closeAllConnections();
    plain.server.close().closeAllConnections();
    await stack.stop();
  }
}

function figure(name: string, unit: Figure['unit'], values: number[]): Figure {
  const [low = 0, median = 0, high = 0] = [0.25, 0.5, 0.75].map((share) => quantile(values, share));
  return { name, unit, median, low, high };
}

/** The goal is the time without compression. */
function both(name: string, times: Record<'gzip' | 'plain', number[]>): Figure[] {
  const plain = quantile(times.plain, 0.5);
  return [{ ...figure(name, 'ms', times.gzip), usual: plain, reach: plain }];
}

function shares(parts: number[], wholes: number[]): number[] {
  return parts.map((part, index) => part / Number(wholes[index]));
}

interface Line {
  url: string;
  server: Server;
  /** Of each body, in KB. */
  sizes: () => number[];
}

/** A line of 100 Mbit/s to the stack, which may hide from it that the caller accepts gzip. */
async function openLine(target: string, acceptsGzip: boolean): Promise<Line> {
  const sizes: number[] = [];
  const server = createServer((incoming, outgoing) => {
    const { 'accept-encoding': accepted, ...headers } = incoming.headers;
    const options = {
      method: incoming.method,
      headers: { ...headers, ...(acceptsGzip && accepted && { 'accept-encoding': accepted }) },
    };
    const forwarded = request(new URL(incoming.url ?? '/', target), options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      const add = (bytes: number) => incoming.method === 'POST' && sizes.push(bytes / 1024);
      pipeline(answer, paced(add), outgoing).catch(() => outgoing.destroy());
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://localhost:${port}`, server, sizes: () => sizes };
}

function paced(onEnd: (bytes: number) => void): Transform {
  let bytes = 0;
  let start: number | undefined;
  return new Transform({
    async transform(chunk: Buffer, _, done) {
      start ??= performance.now();
      bytes += chunk.length;
      const early = start + bytes / bytesPerMs - performance.now();
      // A timer is a millisecond late, so it is set only for more.
      if (early > 1) await pause(early);
      done(null, chunk);
    },
    flush(done) {
      onEnd(bytes);
      done();
    },
  });
}

function askByClient(baseUrl: string): () => Promise<number> {
  const client = createRegistryClient({ baseUrl });
  return async () => {
    const start = performance.now();
    const entries = await client.versions.bulk(pairs);
    const ms = performance.now() - start;
    if (entries.some(({ node_version }) => !node_version)) throw new Error('A version was not found.');
    return ms;
  };
}

async function inBrowser<Result>(
  origin: string,
  work: (ask: (baseUrl: string) => Promise<number>) => Promise<Result>,
): Promise<Result> {
  const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage();
    await page.goto(`${origin}/openapi.json`);
    // A script as text: this is compiled without the types of the DOM.
    const ask = (baseUrl: string) =>
      page.evaluate<number>(`(async () => {
        const start = performance.now();
        const answer = await fetch(${JSON.stringify(`${baseUrl}/bulk/nodes/versions`)}, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: ${JSON.stringify(JSON.stringify({ node_versions: pairs }))},
        });
        const { node_versions } = await answer.json();
        if (node_versions.some((entry) => !entry.node_version)) throw new Error('A version was not found.');
        return performance.now() - start;
      })()`);
    return await work(ask);
  } finally {
    await browser.close();
  }
}

/** The store is named before it is loaded, because it reads its name only once. */
async function fill({ environment }: LocalStack): Promise<void> {
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'LOCALACCESSKEY',
    AWS_SECRET_ACCESS_KEY: 'LOCALSECRETKEY',
    AWS_ENDPOINT_URL_DYNAMODB: environment.AWS_ENDPOINT_URL_DYNAMODB,
    TABLE_NAME: localStores.tableName,
  });
  const { addPacks } = await import('./filling.ts');
  await addPacks(pairs);
}

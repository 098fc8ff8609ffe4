import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { intercept } from '../../support/intercept.ts';
import { proxyNames } from '../../support/proxies.ts';
import { accountOf, pay, usageOf } from '../../support/spending.ts';
import { dynamodb } from '../../../lib/store/table.ts';
import { setVariables } from '../../support/variables.ts';

setVariables({ USAGE_RECORDS: 'off' });

test.each(proxyNames)('%s asks the store nothing while usage records are off', async (name) => {
  const asked: string[] = [];
  const remove = intercept(dynamodb, ({ command, send }) => {
    asked.push(command);
    return send();
  });
  const { status, headers } = await pay('somebody', name);
  remove();

  expect([status, asked]).toEqual([200, []]);
  expect(headers).not.toHaveProperty('x-credits-used');
  expect([await accountOf('somebody'), await usageOf('somebody')]).toEqual([undefined, []]);
});

/** Loads a bundle as Lambda does, sends it its sample event, and prints the status of the answer. */
const runtime = `
  const [bundle, event] = process.argv.slice(1);
  const { readFileSync } = process.getBuiltinModule('fs');
  const { handler } = await import(bundle);
  const { statusCode } = await handler(JSON.parse(readFileSync(event, 'utf8')), { getRemainingTimeInMillis: () => 29_000 });
  process.stdout.write('status ' + statusCode);
  process.exit();`;

/** The files of a bundle without those that hold the client of DynamoDB, and how many these were. */
async function withoutClient(name: string): Promise<{ folder: string; removed: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'node-registry-off-'));
  await cp(resolve('dist', name), folder, { recursive: true });
  const files = (await readdir(folder)).filter((file) => file.endsWith('.js'));
  const isClient = async (file: string) =>
    (await readFile(join(folder, file), 'utf8')).includes('DynamoDB_20120810');
  const holding = await Promise.all(files.map(isClient));
  const removed = files.filter((_, index) => holding[index]);
  for (const file of removed) await unlink(join(folder, file));
  return { folder, removed: removed.length };
}

test.each(proxyNames)(
  'runs the bundle of %s without its DynamoDB client while usage records are off, and only then',
  async (name) => {
    const { folder, removed } = await withoutClient(name);
    const run = (USAGE_RECORDS: string) =>
      promisify(execFile)(
        process.execPath,
        ['--input-type=module', '--eval', runtime, join(folder, 'index.js'), resolve(`events/${name}.json`)],
        { env: { ...process.env, NODE_OPTIONS: '', USAGE_RECORDS } },
      ).then(
        ({ stdout }) => /status \d+/.exec(stdout)?.[0],
        () => 'crashed',
      );

    expect(removed).toBeGreaterThan(0);
    expect(await run('off')).toBe('status 200');
    expect(await run('on')).not.toBe('status 200');
    await rm(folder, { recursive: true });
  },
);

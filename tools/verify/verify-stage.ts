// npm run verify-stage -- --url URL --publisher ID [--paid IMAGE]
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { strToU8, zipSync } from 'fflate';
import { parseObject } from '../../lib/json.ts';
import { createCommand, runProgram } from '@node-registry/command-line/command';
import { createRegistryClient, type RegistryClient } from '@node-registry/registry-client';

/*
 * Checks that a developer's machine can't run: how API Gateway, CloudFront, IAM and both providers handle a
 * stage's requests. Needs a publisher's tokens, and no AWS credentials.
 */

interface Options {
  url: string;
  publisher: string;
  /** The URL of an image to relight. Starts two paid tasks. */
  paid?: string;
}

const nodeId = 'verify-stage';

const command = createCommand({
  name: 'npm run verify-stage --',
  summary: 'Checks a deployed stage from outside',
  notes: `Reads NODE_REGISTRY_ACCESS_TOKEN (of an owner of the publisher) and NODE_REGISTRY_TOKEN (a personal access token). Each run publishes another version of a node ${nodeId}.`,
  examples: ['--url https://api.example.com --publisher acme --paid https://example.com/picture.png'],
})
  .requiredOption('--url <URL>', 'The address of the API')
  .requiredOption('--publisher <ID>', 'The publisher to publish with')
  .option(
    '--paid <IMAGE>',
    'Also relight the image with this URL and make a second of video, which costs money',
  )
  .action(verify);

async function verify({ url, publisher, paid }: Options): Promise<void> {
  const baseUrl = url.replace(/\/$/, '');
  const accessToken = fromEnvironment('NODE_REGISTRY_ACCESS_TOKEN');
  const personal_access_token = fromEnvironment('NODE_REGISTRY_TOKEN');
  const registry = createRegistryClient({ baseUrl, accessToken, attempts: 1 });
  const version = `0.0.${Math.floor(Date.now() / 1000)}`;
  /** For requests that the client would not send. */
  const send = (path: string, init: RequestInit = {}) =>
    fetch(`${baseUrl}${path}`, { ...init, signal: AbortSignal.timeout(35_000) });

  await check('an empty bulk request gets 200', async () => {
    expectEqual((await send('/bulk/nodes/versions', json('POST', { node_versions: [] }))).status, 200);
  });
  await check('an unknown route gets our own 404', async () => {
    const answer = await send('/nowhere');
    expectEqual([answer.status, parseObject(await answer.text())?.error], [404, 'route_not_found']);
  });
  await check('large headers get the gateway’s 431', async () => {
    const headers = { 'x-large': 'x'.repeat(11_000) };
    expectEqual((await send('/bulk/nodes/versions', { headers })).status, 431);
  });
  await check('a preflight request gets 204 with the allowed headers', async () => {
    const asked = {
      origin: 'https://app.example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'idempotency-key',
    };
    const { status, headers } = await send('/bulk/nodes/versions', { method: 'OPTIONS', headers: asked });
    const allowed = headers.get('access-control-allow-headers') ?? '';
    expectEqual([status, /idempotency-key/i.test(allowed)], [204, true]);
  });
  await check('a request without a token gets 401 and says how to authenticate', async () => {
    const { status, headers } = await send(`/publishers/${publisher}/nodes/${nodeId}`, json('PUT', {}));
    const names = ['www-authenticate', 'x-amzn-remapped-www-authenticate'];
    expectEqual([status, names.some((name) => headers.has(name))], [401, true]);
  });

  let signedUrl = '';
  await check('a publish gets 201: its transaction is within the role’s conditions', async () => {
    const body = { node: { name: 'Verify stage' }, node_version: { version }, personal_access_token };
    ({ signedUrl } = await registry.versions.register(publisher, nodeId, body));
  });
  await check('ten uploads at once activate the version', async () => {
    const body = archive(version);
    const put = { method: 'PUT', body, headers: { 'content-type': 'application/zip' } };
    const uploads = await Promise.all(Array.from({ length: 10 }, () => fetch(signedUrl, put)));
    expectEqual(new Set(uploads.map(({ status }) => status)), new Set([200]));
    await published(registry, version);
  });
  await check('a host node’s name arrives as it was sent', async () => {
    const name = 'a/b+c//d';
    expectEqual((await registry.hostNodes.update(nodeId, version, name, {})).host_node_name, name);
  });
  await check('a download has the headers of the distribution', async () => {
    const { status, headers } = await fetch(await published(registry, version), { method: 'HEAD' });
    const names = ['x-content-type-options', 'content-security-policy'];
    expectEqual([status, ...names.map((name) => headers.has(name))], [200, true, true]);
  });

  if (paid !== undefined) await verifyProviders(registry, paid);
  process.stdout.write(
    `Only an account can show (docs/deploy.md, "Verify the stage"):\n${await onlyInAnAccount()}\n`,
  );
}

async function verifyProviders(registry: RegistryClient, paid: string): Promise<void> {
  await check('the image provider starts a task', async () => {
    expectEqual(typeof (await registry.images.relight({ image: paid })).data.task_id, 'string');
  });
  await check('the video provider starts a task', async () => {
    const task = { model: 'vidq2-turbo', prompt: 'A paper boat', duration: 1, resolution: '540p' } as const;
    expectEqual(typeof (await registry.videos.fromText(task)).task_id, 'string');
  });
}

async function check(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
    process.stdout.write(`ok    ${name}\n`);
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`FAIL  ${name}: ${(error as Error).message}\n`);
  }
}

function json(method: string, body: object): RequestInit {
  return { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

/** The download URL of a version, once it is active. */
async function published({ versions }: RegistryClient, version: string): Promise<string> {
  for (let second = 0; second < 60; second += 1) {
    const [found] = await versions.bulk([{ node_id: nodeId, version }]);
    if (found?.node_version?.downloadUrl !== undefined) return found.node_version.downloadUrl;
    await pause(1000);
  }
  throw new Error(`${nodeId} ${version} did not become active in a minute`);
}

/** The titles of the numbered list. */
async function onlyInAnAccount(): Promise<string> {
  const document = await readFile(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
  const section = document.split(/^## /m).find((part) => part.startsWith('Verify the stage'));
  return (section?.match(/^\d+\. \*\*.*?\*\*/gm) ?? []).join('\n').replaceAll('**', '');
}

/** It has no host nodes, so any host node name is accepted. */
function archive(version: string): Uint8Array {
  return zipSync({ 'README.md': strToU8(`Published by npm run verify-stage as ${version}.\n`) });
}

function expectEqual(actual: unknown, expected: unknown): void {
  const show = (value: unknown) => JSON.stringify(value instanceof Set ? [...value] : value);
  if (show(actual) !== show(expected)) throw new Error(`expected ${show(expected)}, got ${show(actual)}`);
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Set ${name}.`);
  return value;
}

await runProgram(command);

import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import { emptyFiles, writeFiles } from '@node-registry/testing/shell';
import { folder } from '@node-registry/testing/folders';
import { publishNode } from '@node-registry/testing/publish-node';
import { proxiedFetch, proxyFor, requestTo } from '../proxy.ts';
import { type Session, writeSession } from '../session.ts';

const seen: string[] = [];
const proxy = createServer((request, response) => {
  seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
  response.writeHead(request.url?.includes('login.example') ? 407 : 401, {
    'content-type': 'application/json',
  });
  response.end('{"error":"unauthorized","message":"No."}');
});
let address = '';
const talker = createTcpServer((socket) =>
  socket.on('error', () => undefined).end('SSH-2.0-OpenSSH_9.6\r\n'),
);
let garbage = '';

test('a session that cannot be written names the folder and another one', async () => {
  await writeFiles(folder, { home: '' });
  expect(() => writeSession({ baseUrl: 'x' } as Session, { XDG_CONFIG_HOME: `${folder}/home` })).toThrow(
    /^The session cannot be kept in .*publish-node: its parent is a file\. .*XDG_CONFIG_HOME/,
  );
});

beforeAll(async () => {
  proxy.on('connect', ({ method, url }, socket) => {
    seen.push(`${method} ${url}`);
    if (url !== 'slow.example:443') socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  address = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  await once(talker.listen(0, '127.0.0.1'), 'listening');
  garbage = `127.0.0.1:${(talker.address() as AddressInfo).port}`;
});

beforeEach(async () => {
  seen.length = 0;
  await writeFiles(folder, emptyFiles('node.py'));
});

afterAll(() => {
  proxy.close();
  talker.close();
});

describe('a token', () => {
  const token = createPersonalAccessToken();
  const named = ['--publisher', 'me', '--node', 'x'];
  const commands: [string, string[]][] = [
    ['publish', ['publish', '.', ...named, '--version', '1.0.0', '--token', token]],
    ['withdraw', ['withdraw', '.', ...named, '--access-token', 'a.b.c']],
    ['deprecate', ['deprecate', 'x@1.0.0', '--publisher', 'me', '--token', token]],
  ];

  test.each(commands)('goes to http only where --allow-http says so: %s', async (_, args) => {
    const given = [...args, '--base-url', 'http://registry.example'];
    const options = { cwd: folder, env: { HTTP_PROXY: `http://me:secret@${address}` } };
    const rejected = await publishNode(given, options);
    const before = seen.length;
    const allowed = await publishNode([...given, '--allow-http'], options);

    expect(rejected).toMatchObject({ code: 2, stderr: expect.stringContaining('--allow-http') });
    expect(before).toBe(0);
    expect(allowed.stderr).toContain('Tokens go to http://registry.example without encryption');
    expect(seen[0]).toMatch(/^P\w+ http:\/\/registry\.example\/.* Basic bWU6c2VjcmV0$/);
  });
});

describe('a fault of a proxy', () => {
  test.each([
    ['of a login', () => `http://${address}`, 'https://registry.example', 'PROXY_407', 'asks for a login'],
    ['of a login', () => `http://${address}`, 'http://login.example', 'PROXY_407', 'asks for a login'],
    ['that is dead', () => 'http://127.0.0.1:1', 'https://registry.example', 'PROXY_ECONNREFUSED', 'refuses'],
    ['that is dead', () => 'http://127.0.0.1:1', 'http://registry.example', 'ECONNREFUSED', 'refuses'],
    [
      'of another kind',
      () => `http://${garbage}`,
      'https://registry.example',
      /^PROXY_HPE_/,
      'does not answer as',
    ],
  ])('names the proxy, %s', async (_, proxyUrl, registry, code, why) => {
    const environment = jest.replaceProperty(process, 'env', { ALL_PROXY: proxyUrl() });
    const error = await proxiedFetch(registry, {}).catch((fault: unknown) => fault);
    environment.restore();
    const { cause } = error as { cause: { code: string; message: string } };

    expect(cause.code).toMatch(code);
    expect(cause.message).toMatch(new RegExp(`^The proxy ${proxyUrl()} ${why}.* It is named by HTTPS_PROXY`));
  });

  test('is what a command reports', async () => {
    const args = ['status', '--node', 'x', '--version', '1.0.0', '--base-url', 'https://registry.example'];
    const { code, stderr } = await publishNode(args, { cwd: folder, env: { HTTPS_PROXY: address } });

    expect([code, stderr]).toEqual([5, expect.stringMatching(/^The proxy \S+ asks for a login: /)]);
  });
});

describe('a proxy', () => {
  test.each([
    ['https://a.example', { HTTPS_PROXY: 'p:1' }, 'http://p:1/'],
    ['https://a.example', { https_proxy: 'https://p', HTTPS_PROXY: 'q' }, 'https://p/'],
    ['https://a.example', { HTTP_PROXY: 'p' }, undefined],
    ['http://a.example', { ALL_PROXY: 'p' }, 'http://p/'],
    ['https://localhost:3000', { HTTPS_PROXY: 'p' }, undefined],
    ['https://127.0.0.1', { HTTPS_PROXY: 'p' }, undefined],
    ['https://a.example', { HTTPS_PROXY: 'p', NO_PROXY: '*' }, undefined],
    ['https://a.example', { HTTPS_PROXY: 'p', NO_PROXY: 'x, EXAMPLE' }, undefined],
    ['https://a.example', { HTTPS_PROXY: 'p', no_proxy: '.a.example:443' }, undefined],
    ['https://a.example', { HTTPS_PROXY: 'p', NO_PROXY: 'a.example:80 xa.example ple' }, 'http://p/'],
  ])('of %s is chosen by %j', (url, environment, expected) => {
    expect(proxyFor(new URL(url), environment)?.href).toBe(expected);
  });

  test('is asked for a tunnel to an https address, and its rejection or silence is the cause', async () => {
    const environment = jest.replaceProperty(process, 'env', { HTTPS_PROXY: address });
    const error = await proxiedFetch('https://registry.example/x', {}).catch((error: unknown) => error);
    // Node itself would end it after five seconds.
    const options = { timeout: 1, signal: AbortSignal.timeout(2000) };
    const silence = requestTo(new URL('https://slow.example'), options);
    await expect(silence).rejects.toThrow('the proxy stalled');
    environment.restore();

    expect(error).toMatchObject({ message: 'fetch failed', cause: { code: 'PROXY_407' } });
    expect(seen[0]).toBe('CONNECT registry.example:443');
  });
});

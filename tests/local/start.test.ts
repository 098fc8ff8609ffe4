import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { demo } from '../../tools/local/demo.ts';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import { send } from '../support/http-exchange.ts';
import { requireEndWithout } from '../support/lost-part.ts';
import { nearRequests } from '../support/near-routes.ts';

const run = promisify(execFile);

let stack: LocalStack;

beforeAll(async () => {
  stack = await startLocalStack();
});

afterAll(() => stack.stop());

async function request(method: string, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(stack.apiUrl + path, {
    method,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  // biome-ignore lint/suspicious/noExplicitAny: replies of every shape
  const reply = (await response.json().catch(() => undefined)) as any;
  return { status: response.status, headers: response.headers, body: reply };
}

const owner = () => ({ authorization: `Bearer ${stack.token('OWNER')}` });
/** An admin may add a host node that the archive does not have. */
const admin = () => ({ authorization: `Bearer ${stack.token('ADMIN')}` });

describe('npm start', () => {
  test('prints what listens, tokens, and calls that work when they are pasted', async () => {
    const calls = stack
      .output()
      .split('\n')
      .filter((line) => line.startsWith('  curl '));
    const tokens = ['OWNER', 'ADMIN', 'PERSONAL'].map((name) => `${name}='${stack.token(name)}'`).join('\n');

    expect(calls.length).toBeGreaterThanOrEqual(4);
    for (const call of calls) {
      const { stdout } = await run('sh', [
        '-c',
        `${tokens}\n${call.trim()} --silent --write-out '\\n%{http_code}'`,
      ]);
      expect(stdout).toMatch(/\n20[01]$/);
    }
    await fetch(`${stack.simulatorsUrl}/control/reset`, { method: 'POST' });
  });

  test('says in one sentence that a port is taken, and leaves the stack that has it alone', async () => {
    const second = await startLocalStack(stack.place).catch((error: Error) => error.message);

    expect(second).toMatch(/Port \d+ \(\w+\) is taken\..*LOCAL_PORT_OFFSET=100 npm start/);
    expect(second).not.toContain('    at ');
    expect((await request('POST', '/bulk/nodes/versions', { node_versions: [] })).status).toBe(200);
  });

  test('leaves the data folder of a running stack alone', async () => {
    const offset = stack.place.offset + 4000;
    const second = await startLocalStack({ ...stack.place, offset }).catch((error: Error) => error.message);

    expect(second).toMatch(/^The data in \S+ is in use by another local stack \(process \d+\)\./m);
    expect(second).not.toContain('    at ');
  });
});

describe('over HTTP', () => {
  // Every operation with an answer of its own, and other origins: tests/local/clients.test.ts.
  const hostNodes = `/nodes/${demo.nodeId}/versions/${demo.version}/host-nodes`;

  async function updatedName(path: string): Promise<string> {
    const { status, body } = await request('PUT', `${hostNodes}/${path}`, { category: 'e2e' }, admin());
    return status === 200 ? body.host_node_name : `status ${status}`;
  }

  test.each([
    ...['Load Image (demo)', 'a/b', 'HyperTile //Inspire', 'ends with/', 'A + B', 'a|b', 'a#b', '100%'],
    ...['名前 ünï 🖼', "quote's & more"],
  ])('keeps the host node name %j, with four characters encoded once or twice', async (name) => {
    const encoded = encodeURIComponent(name);

    expect(await updatedName(encoded)).toBe(name);
    expect(await updatedName(encodeURIComponent(name.replace(/[%/?#]/g, encodeURIComponent)))).toBe(name);
  });

  test.each([
    ['a/b', 'a/b'],
    ['HyperTile%20//Inspire', 'HyperTile //Inspire'],
    ['why%253F%2523%25252F', 'why?#%2F'],
    ['50%2525%20off', '50% off'],
    ['%252541', '%41'],
    ['why%3F', 'why'],
  ])('reads the path %s as the host node %j, as a deployed gateway does', async (path, name) => {
    expect(await updatedName(path)).toBe(name);
  });

  test.each(['why%3Fx', 'a?b=c'])(
    'rejects the path %s, since a name would be cut at its "?"',
    async (path) => {
      const { status, body } = await request('PUT', `${hostNodes}/${path}`, {}, owner());

      expect([status, body.details?.[0]?.path]).toEqual([400, 'query']);
    },
  );

  test.each([
    ['an escaped slash in another place', `/nodes/${demo.nodeId}%2Fx/versions/1.0.0/host-nodes/x`, 404],
    ['a malformed escape', `${hostNodes}/%zz`, 400],
    ['an escape that is not UTF-8', `${hostNodes}/%E7%94`, 400],
  ])('answers a path with %s as the gateway does', async (_, path, expected) => {
    expect((await request('PUT', path, {}, owner())).status).toBe(expected);
  });

  test('finds the function of a percent-encoded route', async () => {
    expect((await request('POST', '/bulk%2Fnodes/v%65rsions', { node_versions: [] })).status).toBe(200);
  });

  test.each([['null'], ['0'], ['false'], ['""']])(
    'passes the JSON body %s to its function as text',
    async (body) => {
      const answer = await request('POST', '/bulk/nodes/versions', body);

      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request']);
    },
  );

  test('rejects a body of more than 6 MB, and accepts one of nearly 6 MB', async () => {
    const bodyOf = (bytes: number) => JSON.stringify({ node_versions: [], padding: 'x'.repeat(bytes) });

    expect((await request('POST', '/bulk/nodes/versions', bodyOf(5.9 * 1024 * 1024))).status).toBe(200);
    const { status, body } = await request('POST', '/bulk/nodes/versions', bodyOf(6.1 * 1024 * 1024));
    expect([status, body.error]).toEqual([413, 'request_too_large']);
  });
});

describe('a method or path that no operation has', () => {
  test.each([
    ['GET', '/nowhere'],
    ['POST', '/nowhere'],
    ['GET', '/bulk/nodes/versions'],
    ['DELETE', '/bulk/nodes/versions'],
    ['DELETE', '/publishers/demo/nodes/demo-node'],
  ])('%s %s answers 404 in the shape of every other error', async (method, path) => {
    const response = await fetch(`${stack.apiUrl}${path}`, { method });

    const body = (await response.json()) as { error: string };

    expect([response.status, body.error]).toEqual([404, 'route_not_found']);
  });

  test('gets a response, and never a 5xx', async () => {
    const requests = nearRequests().values();
    const wrong: unknown[] = [];
    const caller = async () => {
      for (const { method, path } of requests) {
        const headers = { ...owner(), 'content-type': 'application/json' };
        // Not JSON, so that no request changes anything.
        const body = ['GET', 'HEAD', 'TRACE'].includes(method) ? undefined : '{';
        // A separate connection: the gateway may close it after a broken request.
        const options = { method, headers, agent: false } as const;
        const { status, text } = await send(stack.apiUrl + path, options, body);
        if (status === 0 || status >= 500) wrong.push({ status, method, path, text });
      }
    };
    await Promise.all(Array.from({ length: 8 }, caller));

    expect(wrong).toEqual([]);
  });
});

describe('serverless invoke local', () => {
  // A request and an event. A command takes seconds, and tests/functions answers every sample event.
  const shown = {
    'update-node': '"statusCode": 200',
    'finalize-upload': '"node_id":"demo-node"',
  };

  /** The offset of its ports is the only hint to where the stack is. */
  function offsetOnly(): NodeJS.ProcessEnv {
    const { AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL_S3, TOKEN_JWKS_URL, ...rest } = stack.environment;
    const { IMAGE_PROVIDER_URL, VIDEO_PROVIDER_URL, ...environment } = rest;
    return environment;
  }

  test.each(Object.entries(shown))('answers the sample event of %s', async (name, words) => {
    const functionName = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const command = ['invoke', 'local', '-f', functionName, '-p', `events/${name}.json`];
    const { stdout } = await run('serverless', command, { env: offsetOnly() });

    expect(stdout).toContain(words);
  });
});

/** Whether a process of the group still runs. A zombie does not. */
async function isGroupAlive(group: number): Promise<boolean> {
  const { stdout } = await run('ps', ['-eo', 'pgid=,stat=']);
  return stdout.split('\n').some((line) => new RegExp(`^\\s*${group}\\s+[^Z]`).test(line));
}

test('keeps data between starts, and leaves no process behind after Ctrl-C', async () => {
  await request('PUT', '/publishers/demo/nodes/demo-node', { author: 'kept' }, owner());
  expect(await isGroupAlive(stack.group)).toBe(true);
  await stack.stop({ keepData: true });
  expect(await isGroupAlive(stack.group)).toBe(false);
  await expect(fetch(`${stack.apiUrl}/bulk/nodes/versions`)).rejects.toThrow();

  stack = await startLocalStack(stack.place);
  const { body } = await request('PUT', '/publishers/demo/nodes/demo-node', {}, owner());
  expect(body.author).toBe('kept');
});

test('ends the whole stack with a sentence when its DynamoDB dies', () =>
  requireEndWithout(stack, 'The embedded DynamoDB', /--db-path /));

import { expect, test } from '@jest/globals';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import { endpointNames } from '../support/endpoints.ts';
import { type HttpAnswer, send } from '../support/http-exchange.ts';
import { sampleEvent } from '../support/invoke.ts';
import { fc } from '../support/properties.ts';
import { runsOf } from '../support/property-runs.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

/** Small changes of a path. */
const twists: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.toUpperCase(),
  (path) => path.replace(/\/[^/]+$/, ''),
  (path) => `${path}/more`,
  (path) => path.replace('/', '/./'),
  (path) => path.replace(/\/([^/]+)$/, '/$1/../$1'),
  ...['/%2e%2e/$1', '/%00', '/%ZZ', '/%C3%28', '/%ED%A0%80', `/${'x'.repeat(4000)}`].map(
    (end) => (path: string) => path.replace(/\/([^/]+)$/, end),
  ),
  (path) => `${path}?a=1&a=2&__proto__=3&%ZZ`,
  (path) => `${path};a=b`,
];

const callers = 8;

/** Over real HTTP: none is answered with a 5xx, and none hangs. */
test('methods and paths close to the routes always get an answer, and never a 5xx', async () => {
  const all = endpointNames.flatMap((name) => {
    const { rawPath, routeKey } = sampleEvent(name);
    const paths = twists.map((twist) => twist(rawPath.replaceAll(' ', '%20')));
    return paths.flatMap((path) =>
      methods.map((method) => ({ method, path, isOwn: routeKey.startsWith(method) })),
    );
  });
  const others = all.filter(({ isOwn }) => !isOwn);
  const count = Math.min(others.length, runsOf(10));
  const [some = []] = fc.sample(fc.shuffledSubarray(others, { minLength: count, maxLength: count }), 1);
  const requests = [...all.filter(({ isOwn }) => isOwn), ...some].values();
  const stack = await startLocalStack();
  const wrong: unknown[] = [];
  const caller = async () => {
    for (const { method, path } of requests) {
      const { status, text } = await ask(stack, method, path);
      if (status === 0 || status >= 500) wrong.push({ status, method, path, text });
    }
  };
  try {
    await Promise.all(Array.from({ length: callers }, caller));
  } finally {
    await stack.stop();
  }

  expect(wrong).toEqual([]);
});

const maxWaitMs = 15_000;

/** Status 0 if no answer comes. The body is not JSON, so that no request changes anything. */
function ask(stack: LocalStack, method: string, path: string): Promise<HttpAnswer> {
  const headers = { authorization: `Bearer ${stack.token('OWNER')}`, 'content-type': 'application/json' };
  const body = ['GET', 'HEAD', 'TRACE'].includes(method) ? undefined : '{';
  // A separate connection: the gateway may close it after a broken request.
  return send(stack.apiUrl + path, { method, headers, agent: false, timeout: maxWaitMs }, body);
}

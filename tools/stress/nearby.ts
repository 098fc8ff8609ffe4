import { type LocalStack, startLocalStack } from '../local/spawn-stack.ts';
import { type CheckOptions, sampleOf } from './check.ts';
import { type HttpAnswer, send } from './http-exchange.ts';
import { Report } from './report.ts';

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

const otherMethods = { short: 150, usual: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY };
const callers = 8;

/** Over real HTTP, methods and paths close to the eight routes: none is answered with a 5xx, and none hangs. */
export async function checkNearby({ harness, seed, length }: CheckOptions): Promise<Report> {
  const report = new Report();
  const all = harness.names.flatMap((name) => {
    const { rawPath, routeKey } = harness.sample(name);
    const paths = twists.map((twist) => twist(rawPath.replaceAll(' ', '%20')));
    return paths.flatMap((path) =>
      methods.map((method) => ({ method, path, isOwn: routeKey.startsWith(method) })),
    );
  });
  const others = all.filter(({ isOwn }) => !isOwn);
  const requests = [
    ...all.filter(({ isOwn }) => isOwn),
    ...sampleOf(others, otherMethods[length], seed),
  ].values();
  const stack = await startLocalStack();
  const caller = async () => {
    for (const { method, path } of requests) {
      const { status, text } = await ask(stack, method, path);
      report.count('requests');
      report.count(`answered ${status}`);
      if (status === 0 || status >= 500) report.violate('no answer, or a 5xx', status, method, path, text);
    }
  };
  try {
    await Promise.all(Array.from({ length: callers }, caller));
  } finally {
    await stack.stop();
  }
  return report;
}

const maxWaitMs = 15_000;

/** Status 0 if no answer comes. The body is not JSON, so that no request changes anything. */
function ask(stack: LocalStack, method: string, path: string): Promise<HttpAnswer> {
  const headers = { authorization: `Bearer ${stack.token('OWNER')}`, 'content-type': 'application/json' };
  const body = ['GET', 'HEAD', 'TRACE'].includes(method) ? undefined : '{';
  // A separate connection: the gateway may close it after a broken request.
  return send(stack.apiUrl + path, { method, headers, agent: false, timeout: maxWaitMs }, body);
}

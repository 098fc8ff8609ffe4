import { request } from 'node:http';
import { type LocalStack, startLocalStack } from '../local/spawn-stack.ts';
import type { Arena } from './arena.ts';
import { type HuntOptions, Tally } from './hunt.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

/** Ways to write a path almost as it is. */
const twists: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.toUpperCase(),
  (path) => path.replace(/\/[^/]+$/, ''),
  (path) => `${path}/more`,
  (path) => path.replace('/', '/./'),
  (path) => path.replace(/\/([^/]+)$/, '/$1/../$1'),
  (path) => path.replace(/\/([^/]+)$/, '/%2e%2e/$1'),
  (path) => path.replace(/\/([^/]+)$/, '/%00'),
  (path) => path.replace(/\/([^/]+)$/, '/%ZZ'),
  (path) => path.replace(/\/([^/]+)$/, '/%C3%28'),
  (path) => path.replace(/\/([^/]+)$/, '/%ED%A0%80'),
  (path) => path.replace(/\/([^/]+)$/, `/${'x'.repeat(4000)}`),
  (path) => `${path}?a=1&a=2&__proto__=3&%ZZ`,
  (path) => `${path};a=b`,
];

/** Over real HTTP, methods and paths beside the eight routes: none is answered with a 5xx, and none hangs. */
export async function huntNearby({ arena, random, length }: HuntOptions): Promise<Tally> {
  const tally = new Tally();
  const stack = await startLocalStack();
  try {
    for (const path of pathsOf(arena)) {
      for (const twist of twists) {
        for (const method of methods) {
          if (length === 'short' && !random.isOnceIn(4)) continue;
          const status = await ask(stack, method, twist(path));
          tally.count('requests');
          tally.count(`answered ${status}`);
          if (status === undefined || status >= 500)
            tally.violate('no answer, or a 5xx', status, method, twist(path));
        }
      }
    }
  } finally {
    await stack.stop();
  }
  return tally;
}

function pathsOf(arena: Arena): string[] {
  return arena.names.map((name) => arena.sample(name).rawPath.replaceAll(' ', '%20'));
}

const patienceMs = 5000;

/** undefined where no answer comes. A body that is no JSON lets no request through to what it would change. */
function ask(stack: LocalStack, method: string, path: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${stack.token('OWNER')}`, 'content-type': 'application/json' };
  return new Promise((resolve) => {
    const options = { method, path, headers, timeout: patienceMs };
    const outgoing = request(stack.apiUrl, options, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode);
    });
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.on('error', () => resolve(undefined));
    outgoing.end(['GET', 'HEAD', 'TRACE'].includes(method) ? undefined : '{');
  });
}

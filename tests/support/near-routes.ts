import { endpointNames } from './endpoints.ts';
import { sampleEvent } from './invoke.ts';
import { fc } from 'testing/properties';
import { runsOf } from 'testing/property-runs';

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

interface NearRequest {
  method: string;
  path: string;
}

/** Every twisted path with the method of its operation, and some of those with another method. */
export function nearRequests(): NearRequest[] {
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
  return [...all.filter(({ isOwn }) => isOwn), ...some];
}

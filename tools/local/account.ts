import { accountHeaders, accountPage, buildAccount } from '@node-registry/site/account';
import { currentSite } from '../../lib/index/site.ts';
import type { HttpServer, Serve } from '../processes/http-server.ts';
import { localAddress, ports } from './addresses.ts';
import { isOwnPage, startLocalServer } from './local-only.ts';

/** Serves the page for accounts, as its distribution does. No other page is on its origin, since tokens are. */
export async function startAccount(port: number): Promise<HttpServer> {
  const origins = { apiUrl: localAddress(ports.api), issuers: [localAddress(ports.issuer)] };
  const files = new Map((await buildAccount(origins, currentSite())).map((file) => [file.path, file]));
  const headers = accountHeaders(origins);
  const serve: Serve = ({ method, url = '/' }, response) => {
    if (method !== 'GET' && method !== 'HEAD') return response.writeHead(405, headers).end();
    const pathname = URL.parse(url, localAddress(port))?.pathname ?? '';
    if (pathname === '/' || pathname === '/account')
      return response.writeHead(302, { ...headers, location: '/account/' }).end();
    const file = files.get(pathname === '/account/' ? accountPage : pathname.slice(1));
    response.writeHead(file ? 200 : 404, { ...headers, ...(file && { 'content-type': file.type }) });
    response.end(method === 'HEAD' ? undefined : file?.content);
  };
  return startLocalServer(port, serve, isOwnPage);
}

import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Reply } from '@node-registry/registry-client';
import { Failure } from './failure.ts';
import { isThisMachine, proxiedFetch } from './proxy.ts';

/* Signing in at the registry's issuer: authorization code with PKCE, or a device code. No library: this is all. */

/** What the registry says about its issuer, and what the issuer says about itself. */
export interface Issuer extends Pick<Settings, 'issuer' | 'scopes' | 'audience' | 'token'> {
  clientId: string;
  authorizationUrl: string;
  tokenUrl: string;
  deviceUrl?: string | undefined;
}

export interface Tokens {
  accessToken: string;
  refreshToken?: string | undefined;
  expiresAt?: string | undefined;
}

type Settings = Reply<'signInSettings'>;

const timeoutMs = 20_000;
const maxAnswerBytes = 1_000_000;
const signInMs = 5 * 60_000;

/** Reads the issuer's metadata, which must be its own (RFC 8414). */
export async function findIssuer({ issuer, client_id, scopes, audience, token }: Settings): Promise<Issuer> {
  if (client_id === undefined)
    throw new Failure(
      'usage',
      'The registry has no client for this command: its operator sets loginClientId.',
    );
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const metadata = (await ask(address)).fields;
  if (metadata.issuer !== issuer)
    throw new Failure('tryAgain', `The issuer ${issuer} describes another one: ${String(metadata.issuer)}.`);
  return {
    issuer,
    scopes,
    audience,
    token,
    clientId: client_id,
    authorizationUrl: safeAddress(metadata.authorization_endpoint, 'authorization_endpoint'),
    tokenUrl: safeAddress(metadata.token_endpoint, 'token_endpoint'),
    ...(metadata.device_authorization_endpoint !== undefined && {
      deviceUrl: safeAddress(metadata.device_authorization_endpoint, 'device_authorization_endpoint'),
    }),
  };
}

function safeAddress(value: unknown, name: string): string {
  const url = parsed(String(value));
  if (url && (url.protocol === 'https:' || isThisMachine(url))) return url.href;
  throw new Failure('tryAgain', `The issuer's ${name} is not an https address.`);
}

/** Node 20.15 has no URL.parse. */
function parsed(address: string, base?: string): URL | undefined {
  return URL.canParse(address, base) ? new URL(address, base) : undefined;
}

/** The address that a person opens, and their tokens once they have signed in there. */
export async function signInByBrowser(
  issuer: Issuer,
  ports: readonly number[],
  show: (address: string) => void,
): Promise<Tokens> {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(24).toString('base64url');
  const { server, port } = await listenAtOne(ports);
  // Some issuers allow plain http for this name only.
  const redirect_uri = `http://localhost:${port}/callback`;
  const address = new URL(issuer.authorizationUrl);
  const asked = {
    response_type: 'code',
    client_id: issuer.clientId,
    redirect_uri,
    state,
    scope: issuer.scopes.join(' '),
    code_challenge_method: 'S256',
    audience: issuer.audience,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  };
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
  try {
    const answer = redirected(server, state);
    show(address.href);
    const code = await answer;
    const grant = { grant_type: 'authorization_code', code, redirect_uri, code_verifier: verifier };
    const { status, fields } = await ask(issuer.tokenUrl, { ...grant, client_id: issuer.clientId });
    if (status !== 200) throw rejected(fields);
    return tokensIn(issuer, fields);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** The code that the issuer sends the browser back with. Any request without our state is ignored. */
function redirected(server: Server, state: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Failure('tryAgain', 'Nobody signed in within five minutes.'));
    const timer = setTimeout(late, signInMs);
    server
      .on('close', () => clearTimeout(timer))
      .on('request', (request, response) => {
        // Any page may make the browser send anything, such as "//[", which is no address.
        const url = parsed(String(request.url), 'http://127.0.0.1');
        if (url?.pathname !== '/callback' || url.searchParams.get('state') !== state)
          return response.writeHead(404).end();
        const code = url.searchParams.get('code');
        const text = `You are ${code ? '' : 'not '}signed in. Close this page.`;
        const why = url.searchParams.get('error') ?? 'no code';
        response
          .writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
          .end(text);
        if (code) resolve(code);
        else reject(new Failure('rejected', `The issuer did not sign you in: ${why}.`));
      });
  });
}

async function listenAtOne(ports: readonly number[]): Promise<{ server: Server; port: number }> {
  for (const port of ports) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (isFree) return { server, port };
  }
  const sentence = `Other programs use the ports ${ports.join(', ')}, where the issuer sends you back to. Close one, or sign in with --device.`;
  throw new Failure('tryAgain', sentence);
}

/** Signs in on another device: a person types a code there. */
export async function signInByDevice(
  issuer: Issuer,
  show: (address: string, code: string) => void,
): Promise<Tokens> {
  if (issuer.deviceUrl === undefined)
    throw new Failure('usage', 'The issuer has no device codes. Sign in with a browser, without --device.');
  const scope = issuer.scopes.join(' ');
  const asked = { client_id: issuer.clientId, scope, audience: issuer.audience };
  const { status, fields } = await ask(issuer.deviceUrl, asked);
  const { device_code, user_code, verification_uri, verification_uri_complete } = fields;
  if (status !== 200 || typeof device_code !== 'string') throw rejected(fields);
  show(String(verification_uri_complete ?? verification_uri), String(user_code));
  const endsAt = Date.now() + Math.min(1800, Number(fields.expires_in) || 600) * 1000;
  let seconds = Number(fields.interval) || 5;
  while (Date.now() < endsAt) {
    await pause(seconds * 1000);
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code };
    const answer = await ask(issuer.tokenUrl, { ...grant, client_id: issuer.clientId });
    if (answer.status === 200) return tokensIn(issuer, answer.fields);
    if (answer.fields.error === 'slow_down') seconds += 5;
    else if (answer.fields.error !== 'authorization_pending') throw rejected(answer.fields);
  }
  throw new Failure('tryAgain', 'Nobody signed in before the code ended.');
}

/** New tokens; undefined if the issuer no longer takes the refresh token. */
export async function refreshed(issuer: Issuer, refreshToken: string): Promise<Tokens | undefined> {
  const grant = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: issuer.clientId };
  const { status, fields } = await ask(issuer.tokenUrl, grant);
  return status === 200 ? tokensIn(issuer, fields) : undefined;
}

function tokensIn({ token, issuer }: Issuer, fields: Record<string, unknown>): Tokens {
  const [accessToken, refreshToken] = [fields[token], fields.refresh_token];
  if (typeof accessToken !== 'string' || accessToken === '')
    throw new Failure('tryAgain', `The issuer ${issuer} gave no ${token}.`);
  const seconds = Number(fields.expires_in);
  return {
    accessToken,
    ...(typeof refreshToken === 'string' && { refreshToken }),
    ...(seconds > 0 && { expiresAt: new Date(Date.now() + seconds * 1000).toISOString() }),
  };
}

function rejected({ error, error_description: description }: Record<string, unknown>): Failure {
  const why = [error, description].filter((each) => typeof each === 'string').join(': ');
  return new Failure('rejected', `The issuer did not sign you in: ${why || 'no reason'}.`);
}

/** Without a form, a GET. The answer is JSON, whatever its status. */
async function ask(address: string, form?: Record<string, string>) {
  try {
    const response = await proxiedFetch(address, {
      ...(form && { method: 'POST', body: new URLSearchParams(form).toString() }),
      headers: {
        accept: 'application/json',
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    const fields: unknown = text.length > maxAnswerBytes ? undefined : JSON.parse(text);
    if (typeof fields !== 'object' || fields === null) throw new Error('an answer that is no object');
    return { status: response.status, fields: fields as Record<string, unknown> };
  } catch (cause) {
    throw new Failure('tryAgain', `The issuer at ${new URL(address).origin} cannot be reached.`, { cause });
  }
}

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { html, type Markup } from '@node-registry/site/markup';
import { loopbackPorts } from '../../lib/contracts/self-service/users.ts';
import { localAddress, ports } from './addresses.ts';
import { demo } from './demo.ts';

/*
 * The sign-in of the local issuer, as strict as a real one: authorization code with PKCE, refresh tokens that
 * are used once, and device codes (RFC 6749, 7636, 8628). Nobody has a password here.
 */

const localClientId = 'local';
const issuer = localAddress(ports.issuer);
const minute = 60_000;
const tokenSeconds = 60 * 60;

export interface Person {
  user: string;
  name?: string;
  email?: string;
}

interface Grant {
  person: Person;
  endsAt: number;
}

interface Code extends Grant {
  challenge: string;
  redirectUri: string;
}

interface Device {
  userCode: string;
  endsAt: number;
  person?: Person;
  askedAt: number;
}

const pollSeconds = 1;

/** Serves the addresses of the sign-in; the answer is false for any other. */
export function createSignIn(issue: (person: Person, seconds: number) => string) {
  const codes = new Map<string, Code>();
  const refreshTokens = new Map<string, Grant>();
  const devices = new Map<string, Device>();

  const tokensFor = (person: Person) => {
    const refresh_token = secret();
    refreshTokens.set(refresh_token, { person, endsAt: Date.now() + 24 * 60 * minute });
    return {
      access_token: issue(person, tokenSeconds),
      token_type: 'Bearer',
      expires_in: tokenSeconds,
      refresh_token,
      scope: 'openid',
    };
  };

  const grants: Record<string, (form: URLSearchParams) => Person | string> = {
    authorization_code: (form) => {
      const code = take(codes, form.get('code'));
      const challenge = hashOf(form.get('code_verifier') ?? '');
      const isSame = code?.redirectUri === form.get('redirect_uri') && code?.challenge === challenge;
      return code && isSame ? code.person : 'invalid_grant';
    },
    refresh_token: (form) => take(refreshTokens, form.get('refresh_token'))?.person ?? 'invalid_grant',
    'urn:ietf:params:oauth:grant-type:device_code': (form) => {
      const code = form.get('device_code') ?? '';
      const device = devices.get(code);
      if (!device) return 'invalid_grant';
      if (device.endsAt < Date.now()) return 'expired_token';
      if (device.person) return devices.delete(code) ? device.person : 'invalid_grant';
      const isEarly = Date.now() - device.askedAt < pollSeconds * 900;
      device.askedAt = Date.now();
      return isEarly ? 'slow_down' : 'authorization_pending';
    },
  };

  const routes: Record<string, (form: URLSearchParams, url: URL) => Answer> = {
    'GET /.well-known/openid-configuration': () => json(200, metadata),
    'GET /authorize': (_, { searchParams }) => {
      const problem = problemOf(searchParams);
      return problem ?? page('Sign in', chooser('/authorize', searchParams));
    },
    'POST /authorize': (form) => {
      const problem = problemOf(form);
      const person = personIn(form);
      if (problem ?? !person) return problem ?? page('Sign in', chooser('/authorize', form));
      const [redirectUri, challenge] = [String(form.get('redirect_uri')), String(form.get('code_challenge'))];
      const code = secret();
      codes.set(code, { person, challenge, redirectUri, endsAt: Date.now() + minute });
      return back(redirectUri, { code, state: form.get('state'), iss: issuer });
    },
    'POST /token': (form) => {
      if (form.get('client_id') !== localClientId) return json(401, { error: 'invalid_client' });
      const grant = grants[form.get('grant_type') ?? ''];
      const found = grant?.(form) ?? 'unsupported_grant_type';
      return typeof found === 'string' ? json(400, { error: found }) : json(200, tokensFor(found));
    },
    'POST /device_authorization': (form) => {
      if (form.get('client_id') !== localClientId) return json(401, { error: 'invalid_client' });
      const [device_code, userCode] = [secret(), randomBytes(4).toString('hex').toUpperCase()];
      devices.set(device_code, { userCode, endsAt: Date.now() + 10 * minute, askedAt: 0 });
      const verification_uri = `${issuer}/device`;
      return json(200, {
        device_code,
        user_code: userCode,
        verification_uri,
        expires_in: 600,
        interval: pollSeconds,
        verification_uri_complete: `${verification_uri}?user_code=${userCode}`,
      });
    },
    'GET /device': (_, { searchParams }) => page('Sign in a device', chooser('/device', searchParams)),
    'POST /device': (form) => {
      const userCode = form.get('user_code')?.trim().toUpperCase();
      const person = personIn(form);
      const device = [...devices.values()].find((each) => each.userCode === userCode && !each.person);
      if (!person || !device || device.endsAt < Date.now())
        return page('Sign in a device', chooser('/device', form, 'No device shows this code.'));
      device.person = person;
      return page('Signed in', html`<p>The device is signed in as ${person.user}. Close this page.</p>`);
    },
  };

  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const url = URL.parse(request.url ?? '/', issuer);
    const route = url && routes[`${request.method} ${url.pathname}`];
    if (!route) return false;
    const body = request.method === 'POST' ? await text(request) : '';
    const { status, headers, content } = route(new URLSearchParams(body), url);
    const { origin } = request.headers;
    const readable = origin && { 'access-control-allow-origin': origin, vary: 'origin' };
    response.writeHead(status, { 'cache-control': 'no-store', ...readable, ...headers }).end(content);
    return true;
  };
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  content: string;
}

const metadata = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  device_authorization_endpoint: `${issuer}/device_authorization`,
  jwks_uri: `${issuer}/.well-known/jwks.json`,
  response_types_supported: ['code'],
  grant_types_supported: [
    ...['authorization_code', 'refresh_token'],
    'urn:ietf:params:oauth:grant-type:device_code',
  ],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
  authorization_response_iss_parameter_supported: true,
  scopes_supported: ['openid'],
};

/** Where a person goes after the sign-in: to the command's own server, or to the page for accounts. */
function isRedirect({ protocol, hostname, port, pathname, hash, origin }: URL): boolean {
  const isOfCommand = hostname === 'localhost' && loopbackPorts.some((each) => String(each) === port);
  return (
    (protocol === 'http:' && isOfCommand && pathname === '/callback' && hash === '') ||
    origin === localAddress(ports.account)
  );
}

/** An answer to a request that nobody may sign in for. Only a known address is sent the reason. */
function problemOf(asked: URLSearchParams): Answer | undefined {
  const uri = URL.parse(asked.get('redirect_uri') ?? '');
  if (asked.get('client_id') !== localClientId || !uri || !isRedirect(uri))
    return page('Not signed in', html`<p>The client or its redirect address is unknown.</p>`, 400);
  const isPkce =
    asked.get('code_challenge_method') === 'S256' && /^[\w-]{43}$/.test(asked.get('code_challenge') ?? '');
  const error =
    asked.get('response_type') !== 'code' ? 'unsupported_response_type' : !isPkce && 'invalid_request';
  return error ? back(uri.href, { error, state: asked.get('state'), iss: issuer }) : undefined;
}

function personIn(form: URLSearchParams): Person | undefined {
  const [user = '', name = '', email = ''] = ['user', 'name', 'email'].map((each) => form.get(each)?.trim());
  if (user === '' || user.length > 200) return undefined;
  return { user, ...(name !== '' && { name }), ...(email !== '' && { email }) };
}

/** A button for each demo person, and a form for another. The request goes along. */
function chooser(action: string, asked: URLSearchParams, problem = ''): Markup {
  const others = [...asked].filter(([name]) => !['user', 'name', 'email', 'user_code'].includes(name));
  const kept = others.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  const code =
    action === '/device' &&
    html`<label>Code <input name="user_code" required value="${asked.get('user_code') ?? ''}"></label>`;
  const people = [demo.owner, demo.member].map(
    (user) => html`<button name="user" value="${user}">${user}</button>`,
  );
  return html`<p role="alert">${problem}</p>
<form method="post" action="${action}">${kept}${code}<p>Sign in as</p>${people}</form>
<form method="post" action="${action}">${kept}${code}
<label>User <input name="user" required maxlength="200" autocomplete="username"></label>
<label>Name <input name="name" autocomplete="name"></label>
<label>E-mail <input name="email" type="email" autocomplete="email"></label>
<button>Sign in</button></form>`;
}

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:26rem;margin:3rem auto;padding:0 1rem}
form{display:grid;gap:.75rem;margin-block:1.5rem}label{display:grid}input,button{font:inherit;padding:.5rem}`;

function page(title: string, content: Markup, status = 200): Answer {
  const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'`;
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy };
  const document = html`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${style}</style>
<main><h1>${title}</h1><p>This is the issuer of the local stack: nobody has a password.</p>${content}</main></html>`;
  return { status, headers, content: document.text };
}

function back(uri: string, fields: Record<string, string | null>): Answer {
  const location = new URL(uri);
  for (const [name, value] of Object.entries(fields))
    if (value !== null) location.searchParams.set(name, value);
  return { status: 303, headers: { location: location.href }, content: '' };
}

function json(status: number, content: object): Answer {
  return { status, headers: { 'content-type': 'application/json' }, content: JSON.stringify(content) };
}

/** What a secret stands for, once, and while it lasts. */
function take<Kept extends { endsAt: number }>(
  from: Map<string, Kept>,
  name: string | null,
): Kept | undefined {
  const kept = from.get(name ?? '');
  from.delete(name ?? '');
  return kept && kept.endsAt > Date.now() ? kept : undefined;
}

function secret(): string {
  return `${randomUUID()}${randomBytes(8).toString('hex')}`;
}

function hashOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

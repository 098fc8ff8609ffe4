import type { AccessToken, RegistryClient } from '@node-registry/registry-client';
import { type Address, connectWithTokens } from './connect.ts';
import { Failure, type Hints } from './failure.ts';
import { isThisMachine, proxiedFetch } from './proxy.ts';
import { sessionToken } from './session.ts';

export const identities = ['auto', 'ci', 'token'] as const;

export interface IdentityFlags extends Address {
  identity: (typeof identities)[number];
  token: string | undefined;
  accessToken: string | undefined;
  /** The registry's URL by default. */
  audience: string | undefined;
}

export type PersonalToken = string | (() => Promise<string>);

export interface Identity {
  /** The publisher's identity, for a person. */
  about: string;
  /** Undefined for a person who is signed in: `withPersonalToken` makes one. */
  personalAccessToken: PersonalToken | undefined;
  /** Not for a job: its ID token also replaces it. */
  accessToken: AccessToken | undefined;
  hints: Hints;
}

const attempts = 3;
const timeoutMs = 10_000;
const maxAnswerCharacters = 100_000;

/**
 * In a CI with ID tokens, the job publishes, unless the command line selects a stored token: a job that lost
 * its right to an ID token must fail, not continue with a leftover secret.
 */
export async function identityOf(wish: IdentityFlags, environment: NodeJS.ProcessEnv): Promise<Identity> {
  const { identity, token, audience = wish.baseUrl } = wish;
  if (identity === 'ci' && token !== undefined) {
    throw new Failure('usage', 'Give either --identity ci or --token: the job publishes, or a person.');
  }
  const ci = identity === 'token' || token !== undefined ? undefined : ciOf(environment, identity === 'ci');
  if (ci === undefined) return storedIdentity(wish, environment);
  const fetchToken = ci === 'GitHub Actions' ? gitHubToken(audience, environment) : gitLabToken(environment);
  const hints = { invalid_personal_access_token: `It is the ID token of this ${ci} job.` };
  return { about: `this ${ci} job`, personalAccessToken: fetchToken, accessToken: undefined, hints };
}

function ciOf(environment: NodeJS.ProcessEnv, isWanted: boolean) {
  if (environment.GITHUB_ACTIONS === 'true') return 'GitHub Actions';
  if (environment.GITLAB_CI === 'true') return 'GitLab';
  if (isWanted)
    throw new Failure('usage', 'This is not a CI that issues ID tokens.', { code: 'no_id_token' });
  return undefined;
}

const sessionHint = 'The session has ended: publish-node login';

function storedIdentity(
  { baseUrl, token, accessToken }: IdentityFlags,
  environment: NodeJS.ProcessEnv,
): Identity {
  const stored = token ?? environment.NODE_REGISTRY_TOKEN ?? '';
  const bearer = accessToken ?? environment.NODE_REGISTRY_ACCESS_TOKEN;
  if (stored === '') {
    const session = sessionToken(baseUrl, environment);
    const hints = { unauthorized: sessionHint, forbidden: 'You are signed in with publish-node login.' };
    if (session)
      return {
        about: 'you, signed in',
        personalAccessToken: undefined,
        accessToken: bearer ?? session,
        hints,
      };
    const sentence =
      'Sign in with publish-node login, or give a personal access token: NODE_REGISTRY_TOKEN, or --token TOKEN.';
    throw new Failure('usage', sentence, { about: '--token' });
  }
  return {
    about: 'the holder of a personal access token',
    personalAccessToken: stored,
    accessToken: bearer,
    hints: {
      invalid_personal_access_token: `It came from ${token === undefined ? 'NODE_REGISTRY_TOKEN' : '--token'}.`,
      unauthorized: accessTokenHint(accessToken, bearer),
    },
  };
}

function accessTokenHint(given: string | undefined, used: string | undefined): string {
  if (given !== undefined) return 'It came from --access-token.';
  return used
    ? 'It came from NODE_REGISTRY_ACCESS_TOKEN.'
    : 'The registry asks for an access token: NODE_REGISTRY_ACCESS_TOKEN, or --access-token TOKEN.';
}

export async function readToken(token: PersonalToken): Promise<string> {
  return typeof token === 'string' ? token : token();
}

/** Requested once per publish: a token lives for minutes, and resumes the version that it began. */
function gitHubToken(audience: string, environment: NodeJS.ProcessEnv): () => Promise<string> {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret } = environment;
  if (!address || !secret) {
    throw noToken('Add "permissions: id-token: write" to the job.', environment);
  }
  const url = new URL(address);
  if (url.protocol !== 'https:' && !isThisMachine(url))
    throw new Failure('usage', `The address for ID tokens is not https: ${url.origin}.`, {
      code: 'no_id_token',
    });
  url.searchParams.set('audience', audience);
  return async () => {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await ask(url, secret);
      if (answer.token !== undefined) return answer.token;
      if (attempt === attempts || !answer.mayRepeat) {
        throw new Failure('tryAgain', `GitHub Actions gave no ID token: ${answer.reason}.`, {
          code: 'no_id_token',
        });
      }
    }
  };
}

async function ask(
  url: URL,
  secret: string,
): Promise<{ token?: string; reason?: string; mayRepeat?: boolean }> {
  try {
    const response = await proxiedFetch(url.href, {
      headers: { authorization: `Bearer ${secret}`, accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    });
    if (!response.ok) return { reason: `status ${response.status}`, mayRepeat: response.status >= 500 };
    const text = await response.text();
    if (text.length > maxAnswerCharacters) return { reason: 'an answer that is too long' };
    const body: unknown = JSON.parse(text);
    const token = typeof body === 'object' && body !== null && 'value' in body ? body.value : undefined;
    return typeof token === 'string' && token !== '' ? { token } : { reason: 'an answer without one' };
  } catch {
    return { reason: 'it cannot be reached', mayRepeat: true };
  }
}

function gitLabToken(environment: NodeJS.ProcessEnv): () => Promise<string> {
  const token = environment.NODE_REGISTRY_ID_TOKEN;
  if (!token) throw noToken('Add "id_tokens: NODE_REGISTRY_ID_TOKEN" to the job.', environment);
  return async () => token;
}

function noToken(advice: string, environment: NodeJS.ProcessEnv): Failure {
  const instead =
    environment.NODE_REGISTRY_TOKEN === undefined
      ? ''
      : ' NODE_REGISTRY_TOKEN is not used unless you pass --identity token.';
  return new Failure('usage', `This job has no ID token. ${advice}${instead}`, { code: 'no_id_token' });
}

export interface OwnerFlags extends Address {
  accessToken?: string | undefined;
}

/** For changes that only owners make, and the hint for a rejected token. */
export function connectAsOwner(flags: OwnerFlags): { registry: RegistryClient; hint: string } {
  const given = flags.accessToken ?? process.env.NODE_REGISTRY_ACCESS_TOKEN;
  const accessToken = given || sessionToken(flags.baseUrl, process.env);
  const hint = given ? accessTokenHint(flags.accessToken, given) : sessionHint;
  if (!accessToken) {
    const sentence =
      'Sign in with publish-node login, or give an access token: NODE_REGISTRY_ACCESS_TOKEN, or --access-token TOKEN.';
    throw new Failure('usage', sentence, { about: '--access-token' });
  }
  return { registry: connectWithTokens(flags, accessToken), hint };
}

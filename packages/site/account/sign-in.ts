import type { Reply } from '@node-registry/registry-client';
import * as oauth from 'oauth4webapi';

/*
 * Signing in by OpenID Connect with PKCE. Tokens stay in the memory of the page: who reloads it signs in again, which
 * the issuer answers without a question while its own session lasts.
 */

export type SignInSettings = Reply<'signInSettings'>;

interface Begun {
  state: string;
  verifier: string;
  /** The page's view, and an invitation that was opened: the issuer never learns it. */
  fragment: string;
}

const begunName = 'sign-in';
const redirectUri = () => `${location.origin}/account/`;

async function serverOf({ issuer }: SignInSettings) {
  const address = new URL(issuer);
  const insecure = { [oauth.allowInsecureRequests]: address.hostname === 'localhost' };
  const answer = await oauth.discoveryRequest(address, insecure);
  return { server: await oauth.processDiscoveryResponse(address, answer), insecure };
}

/** Leaves the page for the issuer. */
export async function begin(settings: SignInSettings): Promise<void> {
  const { server } = await serverOf(settings);
  const begun: Begun = {
    state: oauth.generateRandomState(),
    verifier: oauth.generateRandomCodeVerifier(),
    fragment: location.hash,
  };
  sessionStorage.setItem(begunName, JSON.stringify(begun));
  const address = new URL(String(server.authorization_endpoint));
  const asked = {
    response_type: 'code',
    client_id: String(settings.client_id),
    redirect_uri: redirectUri(),
    scope: settings.scopes.join(' '),
    audience: settings.audience,
    state: begun.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(begun.verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
  location.assign(address);
}

/** The token, if the issuer has just sent the person back. The address keeps nothing of it. */
export async function finish(settings: SignInSettings): Promise<string | undefined> {
  const kept = sessionStorage.getItem(begunName);
  sessionStorage.removeItem(begunName);
  const back = new URL(location.href);
  if (kept === null || !(back.searchParams.has('code') || back.searchParams.has('error'))) return undefined;
  const { state, verifier, fragment }: Begun = JSON.parse(kept);
  history.replaceState(undefined, '', `/account/${fragment}`);
  const { server, insecure } = await serverOf(settings);
  const client = { client_id: String(settings.client_id) };
  const parameters = oauth.validateAuthResponse(server, client, back, state);
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri(),
    verifier,
    insecure,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer);
  return tokens[settings.token];
}

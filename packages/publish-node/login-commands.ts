import type { RegistryClient } from '@node-registry/registry-client';
import { connectWithTokens } from './connect.ts';
import { explain, Failure } from './failure.ts';
import { connectAsOwner, type OwnerFlags } from './identity.ts';
import { type Ending, say } from './output.ts';
import { readSession, removeSession, writeSession } from './session.ts';
import { findIssuer, signInByBrowser, signInByDevice } from './sign-in.ts';

interface LoginFlags extends OwnerFlags {
  device?: boolean | undefined;
}

const noSelfService = 'This registry has no self-service: its operator makes publishers and tokens.';

/** Most registries without self-service have no such route. */
export function explainAccount(hint: string): (error: unknown) => never {
  return (error) => {
    if (Object(error).code === 'route_not_found')
      throw new Failure('rejected', noSelfService, { code: 'route_not_found' });
    return explain({ unauthorized: hint, invalid_reply: noSelfService })(error);
  };
}

/** Signs a person in at the registry's issuer and keeps the session in a file that only they can read. */
export async function loginCommand(_: string, flags: LoginFlags): Promise<Ending> {
  const { baseUrl } = flags;
  const registry = connectWithTokens(flags);
  const settings = await registry.account('signInSettings', {}).catch(explainAccount(''));
  const issuer = await findIssuer(settings);
  const tokens = flags.device
    ? await signInByDevice(issuer, (address, code) =>
        say(`Open ${address} on any device, and compare the code: ${code}`),
      )
    : await signInByBrowser(issuer, settings.loopback_ports, (address) =>
        say('Open this address in your browser, and sign in:', address),
      );
  const signedIn = connectWithTokens(flags, tokens.accessToken);
  const user = await signedIn.account('getUser', {}).catch(explainAccount('It came from the issuer.'));
  const file = writeSession({ baseUrl, issuer, tokens }, process.env);
  const { publishers, lines } = await publishersOf(signedIn);
  return {
    report: { status: 'signed_in', user, publishers, output: file },
    lines: [`You are signed in as ${user.id}.`, ...lines],
  };
}

async function publishersOf(registry: RegistryClient) {
  const publishers = await registry.account('listPublishersForUser', {}).catch(explainAccount(''));
  const names = publishers.map(({ id }) => id).join(', ');
  const lines = [
    names
      ? `Your publishers: ${names}`
      : 'You have no publisher yet. Make one: publish-node publisher create ID',
  ];
  return { publishers, lines };
}

export async function logoutCommand(_: string, { baseUrl }: OwnerFlags): Promise<Ending> {
  const wasSignedIn = readSession(baseUrl, process.env) !== undefined;
  removeSession(baseUrl, process.env);
  const lines = [wasSignedIn ? `You are signed out of ${baseUrl}.` : `Nobody was signed in at ${baseUrl}.`];
  return { report: { status: 'signed_out' }, lines };
}

/** Who is signed in, with their publishers and the tokens that they made. */
export async function whoamiCommand(_: string, flags: OwnerFlags): Promise<Ending> {
  const { registry, hint } = connectAsOwner(flags);
  const user = await registry.account('getUser', {}).catch(explainAccount(hint));
  const { publishers, lines } = await publishersOf(registry);
  const own = await Promise.all(
    publishers.map(async ({ id }) => {
      const path = { publisherId: String(id) };
      const found = await registry.account('listPersonalAccessTokens', { path }).catch(explainAccount(hint));
      return found.filter(({ made_by }) => made_by === user.member_id);
    }),
  );
  const tokens = own.flat();
  const shown = tokens.map(({ name, expires_at }) => `Token "${name}", until ${expires_at.slice(0, 10)}`);
  return {
    report: { status: 'signed_in', user, publishers, tokens },
    lines: [`You are ${user.email ?? user.id}.`, ...lines, ...shown],
  };
}

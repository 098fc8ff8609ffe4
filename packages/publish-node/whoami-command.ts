import { type RegistryClient, RegistryError } from '@node-registry/registry-client';
import { connectWithTokens } from './connect.ts';
import { exitCodes, failureOf } from './failure.ts';
import { type Identity, type IdentityFlags, identityOf, readToken } from './identity.ts';
import { describeSession } from './login-commands.ts';
import type { Ending, Mean } from './output.ts';
import { meantBy, readNamed, requireOwned } from './project.ts';
import type { Metadata } from './pyproject.ts';
import { readSession } from './session.ts';

interface WhoamiFlags extends IdentityFlags {
  metadata: Metadata;
}

/**
 * No endpoint identifies a token's owner. Two requests that can't change anything test its permissions: a
 * version with oversized metadata, and a change of the node with a condition that never holds. If allowed,
 * both fail only for that.
 */
export async function whoamiCommand(folder: string, flags: WhoamiFlags, mean: Mean): Promise<Ending> {
  const { identity: who, token } = flags;
  const isPerson = who !== 'ci' && token === undefined && !process.env.NODE_REGISTRY_TOKEN;
  if (isPerson && readSession(flags.baseUrl, process.env)) return describeSession(flags);
  const read = await readNamed(folder, flags.metadata);
  mean({ ...meantBy(read), version: undefined });
  const meant = requireOwned(read);
  const { publisher, node } = meant;
  const identity = await identityOf(flags, process.env);
  const { accessToken } = identity;
  const registry = connectWithTokens(flags, accessToken);
  const publishing = await mayPublish(registry, publisher, node, identity);
  const changing = accessToken
    ? await rejectionOf(registry.nodes.update(publisher, node, {}, { ifMatch: '"never"' }), identity, [
        'precondition_failed',
      ])
    : 'No access token was given: NODE_REGISTRY_ACCESS_TOKEN, or --access-token TOKEN.';
  const lines = [
    `You are ${identity.about}, and ask for ${node} of ${publisher}.`,
    publishing === undefined ? 'May publish versions of it.' : `May not publish: ${publishing}`,
    changing === undefined
      ? 'May change, withdraw and restore it.'
      : `May not change, withdraw or restore it: ${changing}`,
  ];
  const isAllowed = publishing === undefined;
  return {
    exitCode: isAllowed ? exitCodes.done : exitCodes.rejected,
    report: {
      status: isAllowed ? 'may_publish' : 'may_not_publish',
      ...meant,
      reason: publishing,
      notes: lines,
    },
    lines,
  };
}

/** Larger than a node's record, and smaller than a request. */
const tooLong = 'x'.repeat(300_000);

async function mayPublish(
  registry: RegistryClient,
  publisher: string,
  node: string,
  identity: Identity,
): Promise<string | undefined> {
  const personal_access_token = await readToken(identity.personalAccessToken ?? '');
  const body = { personal_access_token, node: { description: tooLong }, node_version: { version: '0.0.0' } };
  return rejectionOf(registry.versions.register(publisher, node, body), identity, [
    'record_too_large',
    'version_exists',
  ]);
}

/** Undefined if only the impossible part of the request was rejected. */
async function rejectionOf(
  request: Promise<unknown>,
  { hints }: Identity,
  expected: readonly string[],
): Promise<string | undefined> {
  try {
    await request;
    return undefined;
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    if (expected.includes(error.code)) return undefined;
    const failure = failureOf(error, hints);
    if (failure.exitCode !== exitCodes.rejected) throw failure;
    return failure.message.replace(/^The registry rejected the request: /, '');
  }
}

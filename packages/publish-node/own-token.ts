import { hostname } from 'node:os';
import type { RegistryClient } from '@node-registry/registry-client';
import { explain } from './failure.ts';
import type { Identity, PersonalToken } from './identity.ts';
import { say } from './output.ts';

const seconds = 60 * 60;
const endMs = 5000;

/** Ends the token that this run has made, if there is one. */
let endOwn: (() => Promise<void>) | undefined;

/**
 * Publishes with the given token, or as the person who is signed in: with a token of this run's own, for this
 * node and an hour at most, which ends with the run.
 */
export async function withPersonalToken<Result>(
  registry: RegistryClient,
  { personalAccessToken, hints }: Identity,
  { publisher, node }: { publisher: string; node: string },
  work: (token: PersonalToken) => Promise<Result>,
): Promise<Result> {
  if (personalAccessToken !== undefined) return work(personalAccessToken);
  const path = { publisherId: publisher };
  const name = `publish-node on ${hostname()}, ${new Date().toISOString().slice(0, 16)}`.slice(0, 100);
  const body = { name, node_id: node, expires_in: seconds };
  const { id, token } = await registry
    .account('createPersonalAccessToken', { path, body })
    .catch(explain(hints));
  const given = { patienceMs: endMs, timeoutMs: endMs };
  endOwn = async () => {
    endOwn = undefined;
    await registry
      .account('deletePersonalAccessToken', { path: { ...path, tokenId: id } }, given)
      .catch(() => say(`The token of this run, "${name}", could not be ended. It ends within an hour.`));
  };
  try {
    return await work(token);
  } finally {
    await endOwnToken();
  }
}

export async function endOwnToken(): Promise<void> {
  await endOwn?.();
}

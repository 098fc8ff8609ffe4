import { hostname } from 'node:os';
import type { RegistryClient } from '@node-registry/registry-client';
import { explain } from './failure.ts';
import type { Identity, PersonalToken } from './identity.ts';
import { say } from './output.ts';

const seconds = 60 * 60;
const endMs = 5000;

/**
 * Publishes with the given token, or as the person who is signed in: with a token of this run's own, for this
 * node and an hour at most, which ends with the run. Work that leaves it something to do keeps it for the hour.
 */
export async function withPersonalToken<Result>(
  registry: RegistryClient,
  { personalAccessToken, hints }: Identity,
  { publisher, node }: { publisher: string; node: string },
  work: (token: PersonalToken, keep: () => void) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  if (personalAccessToken !== undefined) return work(personalAccessToken, () => {});
  const path = { publisherId: publisher };
  const name = `publish-node on ${hostname()}, ${new Date().toISOString().slice(0, 16)}`.slice(0, 100);
  const body = { name, node_id: node, expires_in: seconds };
  const { id, token } = await registry
    .account('createPersonalAccessToken', { path, body }, { signal })
    .catch(explain(hints));
  const given = { patienceMs: endMs, timeoutMs: endMs };
  let isKept = false;
  try {
    return await work(token, () => {
      isKept = true;
    });
  } finally {
    if (!isKept)
      await registry
        .account('deletePersonalAccessToken', { path: { ...path, tokenId: id } }, given)
        .catch(() => say(`The token of this run, "${name}", could not be ended. It ends within an hour.`));
  }
}

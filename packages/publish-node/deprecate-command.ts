import { normalizeVersion } from '@node-registry/registry-rules/version-label';
import { type NodeVersion, RegistryError } from '@node-registry/registry-client';
import { connectWithTokens } from './connect.ts';
import { explain, Failure } from './failure.ts';
import { type IdentityFlags, identityOf, type PersonalToken, readToken } from './identity.ts';
import type { Ending, Mean } from './output.ts';
import { withPersonalToken } from './own-token.ts';
import { meantBy, readNamed, requireNamed, requireOwned } from './project.ts';
import { wantedOf } from './reading.ts';

export interface DeprecateFlags extends IdentityFlags {
  publisher?: string | undefined;
  undo?: boolean | undefined;
  changelog?: string | undefined;
  reason?: string | undefined;
}

const reasonLine = /(?:^|\n+)Deprecated: [^\n]*$/;

/** The change log with the reason as its last line; without `--reason` and `--changelog` it stays. */
function changelogFor(old: string | null | undefined, { changelog, reason, undo }: DeprecateFlags) {
  const kept = (old ?? '').replace(reasonLine, '');
  if (reason !== undefined)
    return `${kept}${kept === '' ? '' : '\n\n'}Deprecated: ${reason.replaceAll(/\s+/g, ' ').trim()}`;
  return changelog ?? (undo && kept !== (old ?? '') ? kept : undefined);
}

/** Changes a published version: a publish that names no other field of it is an edit. */
export async function deprecateCommand(text: string, flags: DeprecateFlags, mean: Mean): Promise<Ending> {
  if (wantedOf(text).version === undefined && normalizeVersion(text) === undefined)
    throw new Failure('usage', `Name the version: ${text}@VERSION.`);
  const named = await readNamed(text, { publisher: flags.publisher });
  mean(meantBy(named));
  const { publisher } = requireOwned(named);
  const { node, version } = requireNamed(named);
  const identity = await identityOf(flags, process.env);
  const registry = connectWithTokens(flags, identity.accessToken);
  const read = async () => (await registry.versions.bulk([{ node_id: node, version }]))[0]?.node_version;
  const before = await read();
  // The same request would start a version that doesn't exist.
  if (before === undefined || before.status === 'NodeVersionStatusPending')
    throw new Failure('rejected', `${node} ${version} is not published.`, { code: 'not_found' });
  const deprecated = flags.undo !== true;
  const changelog = changelogFor(before.changelog, flags);
  const isDone = (now: NodeVersion | undefined) =>
    now && (now.deprecated ?? false) === deprecated && [undefined, now.changelog].includes(changelog);
  const edit = async (token: PersonalToken) => {
    const body = {
      personal_access_token: await readToken(token),
      node: {},
      node_version: { version, deprecated, ...(changelog !== undefined && { changelog }) },
    };
    // The registry rejects an edit that changes nothing, as does one that was sent before.
    const rejected = async (error: unknown) => {
      const now =
        error instanceof RegistryError && error.code === 'version_exists' ? await read() : undefined;
      return isDone(now) && now ? { node_version: now } : explain(identity.hints)(error);
    };
    return (await registry.versions.register(publisher, node, body).catch(rejected)).node_version;
  };
  const node_version = isDone(before)
    ? before
    : await withPersonalToken(registry, identity, { publisher, node }, edit);
  if ((node_version.deprecated ?? false) !== deprecated)
    throw new Failure('rejected', `The registry left ${node} ${version} as it is.`);
  const done = deprecated
    ? `${node} ${version} is deprecated: lists say so, and it is not the latest version while another one is there. To undo it: publish-node deprecate ${node}@${version} --undo`
    : `${node} ${version} is no longer deprecated.`;
  const status = deprecated ? 'deprecated' : 'undeprecated';
  return { report: { status, publisher, node, version, node_version }, lines: [done] };
}

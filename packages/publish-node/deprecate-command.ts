import { connectWithTokens } from './connect.ts';
import { exitCodes, explain, Failure } from './failure.ts';
import { type IdentityFlags, identityOf, personalTokenOf } from './identity.ts';
import type { Ending, Mean } from './output.ts';
import { readPyProject } from './pyproject.ts';
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
export async function deprecateCommand(
  text: string,
  label: string | undefined,
  flags: DeprecateFlags,
  mean: Mean,
): Promise<Ending> {
  const { node, version } = wantedOf(label === undefined ? text : `${text}@${label}`);
  if (version === undefined) throw new Failure('usage', `Name the version: ${node}@VERSION.`);
  const { publisher = (await readPyProject('.')).metadata.publisher } = flags;
  mean({ publisher, node, version });
  if (publisher === undefined)
    throw new Failure('usage', 'Name the publisher: --publisher ID, or start it in the folder of the node.');
  const identity = await identityOf(flags, process.env);
  const registry = connectWithTokens(flags, identity.accessToken);
  // The same request would start a version that doesn't exist.
  const [entry] = await registry.versions.bulk([{ node_id: node, version }]);
  const { status: state = 'not_found' } = entry?.node_version ?? {};
  if (['not_found', 'NodeVersionStatusPending'].includes(state))
    throw new Failure('rejected', `${node} ${version} is not published.`, { code: 'not_found' });
  const deprecated = flags.undo !== true;
  const before = entry?.node_version;
  const changelog = changelogFor(before?.changelog, flags);
  // The registry rejects an edit that changes nothing, which may have been sent before.
  const isDone =
    (before?.deprecated ?? false) === deprecated && [undefined, before?.changelog].includes(changelog);
  const body = {
    personal_access_token: await personalTokenOf(identity),
    node: {},
    node_version: { version, deprecated, ...(changelog !== undefined && { changelog }) },
  };
  const node_version =
    isDone && before
      ? before
      : (await registry.versions.register(publisher, node, body).catch(explain(identity.hints))).node_version;
  if ((node_version.deprecated ?? false) !== deprecated)
    throw new Failure('rejected', `The registry left ${node} ${version} as it is.`);
  const done = deprecated
    ? `${node} ${version} is deprecated: lists say so, and it is not the latest version while another one is there. To undo it: publish-node deprecate ${node}@${version} --undo`
    : `${node} ${version} is no longer deprecated.`;
  const status = deprecated ? 'deprecated' : 'undeprecated';
  return {
    exitCode: exitCodes.done,
    report: { status, publisher, node, version, node_version },
    lines: [done],
  };
}

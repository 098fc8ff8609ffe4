import { type NodeVersion, RegistryError } from '@node-registry/registry-client';
import { normalizeVersion } from '@node-registry/registry-rules/version-label';
import { connectWithTokens } from './connect.ts';
import { explain, Failure } from './failure.ts';
import {
  connectAsOwner,
  type IdentityFlags,
  identityOf,
  type OwnerFlags,
  type PersonalToken,
  readToken,
} from './identity.ts';
import type { Ending, Mean } from './output.ts';
import { withPersonalToken } from './own-token.ts';
import { meantBy, metadataNotes, readNamed, requestOf, requireNamed, requireOwned } from './project.ts';
import type { Metadata } from './pyproject.ts';
import { wantedOf } from './reading.ts';

interface WithdrawFlags extends OwnerFlags {
  metadata: Metadata;
  reason?: string | undefined;
}

/** Owners remove a node or a version from every list, or restore it. Published versions stay for their users. */
const command = (withdraws: boolean) => async (folder: string, flags: WithdrawFlags, mean: Mean) => {
  const read = await readNamed(folder, flags.metadata);
  // A folder has a version of its own.
  if (read.ownVersion === undefined && read.metadata.version)
    return withdrawVersion(withdraws, read, flags, mean);
  mean({ ...meantBy(read), version: undefined });
  const { publisher, node } = requireOwned(read);
  const { registry, hint } = connectAsOwner(flags);
  const status = withdraws ? 'NodeStatusDeleted' : 'NodeStatusActive';
  const changed = await registry.nodes
    .update(publisher, node, { status, status_detail: flags.reason ?? null })
    .catch(explain({ unauthorized: hint }));
  if (changed.status !== status) {
    throw new Failure('rejected', `The registry left ${node} as it is: ${changed.status}.`);
  }
  const done = withdraws
    ? `${node} is withdrawn: it is in no list and takes no new version. Its versions stay downloadable. To put it back: publish-node restore`
    : `${node} is active: lists show it, and it takes new versions.`;
  const report = { status: withdraws ? 'withdrawn' : 'restored', publisher, node };
  return { report: { ...report, reason: flags.reason }, lines: [done] };
};

export const withdrawCommand = command(true);
export const restoreCommand = command(false);

/** The same for one version, by the id that the registry gave it. */
async function withdrawVersion(
  withdraws: boolean,
  read: Awaited<ReturnType<typeof readNamed>>,
  { reason, ...flags }: WithdrawFlags,
  mean: Mean,
): Promise<Ending> {
  mean(meantBy(read));
  const { publisher } = requireOwned(read);
  const { node, version } = requireNamed(read);
  const label = `${node}@${version}`;
  const other = `Nothing was done: a version has no --reason. First: publish-node deprecate ${label} --reason TEXT.`;
  if (reason !== undefined) throw new Failure('usage', other);
  const { registry, hint } = connectAsOwner(flags);
  const [entry] = await registry.versions.bulk([{ node_id: node, version }]);
  const { id, status: state } = entry?.node_version ?? {};
  if (id === undefined)
    throw new Failure('rejected', `${node} ${version} is not published.`, { code: 'not_found' });
  const verb = withdraws ? 'withdraw' : 'restore';
  const isDropped = withdraws && state === 'NodeVersionStatusPending';
  await registry.versions[verb](publisher, node, id).catch((error: unknown) => {
    const { code } = error as RegistryError;
    // A repeated request finds none.
    if (isDropped && code === 'node_version_not_found') return;
    const byOperator = `This registry has no self-service. Its operator can do it: npm run admin -- node-version ${verb} ${node} ${version}`;
    if (code === 'route_not_found') throw new Failure('rejected', byOperator, { code });
    explain({ unauthorized: hint })(error);
  });
  if (!withdraws && state !== 'NodeVersionStatusDeleted') {
    const status = String(state).replace('NodeVersionStatus', '').toLowerCase();
    const lines = [`${node} ${version} was not withdrawn. It is ${status}.`];
    return { report: { status, publisher, node, version }, lines };
  }
  const done = isDropped
    ? `${node} ${version} is dropped: its label is free again.`
    : withdraws
      ? `${node} ${version} is withdrawn: it is in no list and never the latest; who names it downloads it. To put it back: publish-node restore ${label}`
      : `${node} ${version} is restored.`;
  const status = isDropped ? 'dropped' : withdraws ? 'withdrawn' : 'restored';
  return { report: { status, publisher, node, version }, lines: [done] };
}

/** Changes a node's metadata without a release: what pyproject.toml and the command line name, and nothing else. */
export async function editCommand(
  folder: string,
  flags: OwnerFlags & { metadata: Metadata },
  mean: Mean,
): Promise<Ending> {
  const read = await readNamed(folder, flags.metadata);
  mean({ ...meantBy(read), version: undefined });
  const named = { ...read.metadata, ...flags.metadata, ...requireOwned(read), version: '' };
  const { id: _, ...fields } = requestOf(named).node ?? {};
  const names = Object.keys(fields);
  if (names.length === 0)
    throw new Failure(
      'usage',
      'Name what to change, in pyproject.toml or as an option, such as --description.',
    );
  const { registry, hint } = connectAsOwner(flags);
  const { publisher, node } = named;
  await registry.nodes.update(publisher, node, fields).catch(explain({ unauthorized: hint }));
  return {
    report: { status: 'edited', publisher, node, notes: metadataNotes(named) },
    lines: [`${node} has these fields as named here: ${names.join(', ')}.`, ...metadataNotes(named)],
  };
}

interface DeprecateFlags extends IdentityFlags {
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
  const named = await readNamed(text, { publisher: flags.publisher }, true);
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

import type { RegistryError } from '@node-registry/registry-client';
import { explain, Failure } from './failure.ts';
import { connectAsOwner, type OwnerFlags } from './identity.ts';
import type { Ending, Mean } from './output.ts';
import { meantBy, readNamed, requireNamed, requireOwned } from './project.ts';
import type { Metadata } from './pyproject.ts';

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
    : `${node} is not withdrawn: lists have it, and it takes new versions.`;
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

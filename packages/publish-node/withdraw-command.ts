import { exitCodes, explain, Failure } from './failure.ts';
import { connectAsOwner, type OwnerFlags } from './identity.ts';
import type { Ending, Mean } from './output.ts';
import { meantBy, readNamed, requireOwned } from './project.ts';
import type { Metadata } from './pyproject.ts';

export interface WithdrawFlags extends OwnerFlags {
  metadata: Metadata;
  withdraws: boolean;
  reason?: string | undefined;
}

/** An owner removes a node from every list, or restores it. Published versions stay for their users. */
export async function withdrawCommand(folder: string, flags: WithdrawFlags, mean: Mean): Promise<Ending> {
  const read = await readNamed(folder, flags.metadata);
  mean({ ...meantBy(read), version: undefined });
  const { publisher, node } = requireOwned(read);
  const { registry, hint } = connectAsOwner(flags);
  const status = flags.withdraws ? 'NodeStatusDeleted' : 'NodeStatusActive';
  const changed = await registry.nodes
    .update(publisher, node, { status, status_detail: flags.reason ?? null })
    .catch(explain({ unauthorized: hint }));
  if (changed.status !== status) {
    throw new Failure('rejected', `The registry left ${node} as it is: ${changed.status}.`);
  }
  const done = flags.withdraws
    ? `${node} is withdrawn: it is in no list and takes no new version. Its versions stay downloadable. To put it back: publish-node restore`
    : `${node} is restored.`;
  const report = { status: flags.withdraws ? 'withdrawn' : 'restored', publisher, node };
  return { exitCode: exitCodes.done, report: { ...report, reason: flags.reason }, lines: [done] };
}

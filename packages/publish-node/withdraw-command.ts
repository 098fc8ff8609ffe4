import { type Address, connectWithTokens } from './connect.ts';
import { exitCodes, explain, Failure } from './failure.ts';
import { accessTokenHint } from './identity.ts';
import type { Ending, Mean } from './output.ts';
import { meantBy, readMetadata, requireOwned } from './project.ts';
import type { Metadata } from './pyproject.ts';

export interface WithdrawFlags extends Address {
  metadata: Metadata;
  withdraws: boolean;
  reason?: string | undefined;
  accessToken?: string | undefined;
}

/** An owner removes a node from every list, or restores it. Published versions stay for their users. */
export async function withdrawCommand(folder: string, flags: WithdrawFlags, mean: Mean): Promise<Ending> {
  const read = await readMetadata(folder, flags.metadata);
  mean({ ...meantBy(read), version: undefined });
  const { publisher, node } = requireOwned(read);
  const accessToken = flags.accessToken ?? process.env.NODE_REGISTRY_ACCESS_TOKEN;
  const hint = accessTokenHint(flags.accessToken, accessToken);
  if (!accessToken) throw new Failure('usage', hint, { about: '--access-token' });
  const registry = connectWithTokens(flags, accessToken);
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

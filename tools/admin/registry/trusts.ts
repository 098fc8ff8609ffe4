import type { TrustRecord, Operator } from '../../../lib/registry/records.ts';
import * as trusts from '../../../lib/registry/trusts.ts';
import { newContext } from './administration.ts';
import { showPublisher } from './publishers.ts';

export { describeTrust } from '../../../lib/registry/trusts.ts';

export type Trust = Omit<TrustRecord, 'pk' | 'sk' | 'revision'>;

export async function addTrust(
  operator: Operator,
  publisherId: string,
  wanted: trusts.NewTrust,
): Promise<Trust> {
  return visibleTrust(await trusts.addTrust(newContext(), operator, publisherId, wanted));
}

/** The trusts of a publisher, including removed ones, oldest first. */
export async function listTrusts(publisherId: string): Promise<Trust[]> {
  await showPublisher(publisherId);
  return (await trusts.listTrusts(newContext(), publisherId)).map(visibleTrust);
}

function visibleTrust({ pk: _, sk: __, revision: ___, ...trust }: TrustRecord): Trust {
  return trust;
}

/**
 * Removes a trust for good, and returns since when. The record stays, so that its pending versions never
 * become active; if the trust is added again, it pins its IDs again.
 */
export async function removeTrust(operator: Operator, publisherId: string, id: string): Promise<string> {
  return (await trusts.removeTrust(newContext(), operator, publisherId, id)).result;
}

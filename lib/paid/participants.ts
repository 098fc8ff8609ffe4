import * as config from '../config.ts';
import type { Contract } from '../contract.ts';
import type { IdempotencyKey } from './idempotency-key.ts';
import type { Money } from './money.ts';
import type { Outgoing, PaidRequest, Participant } from './participant.ts';

/** The modules of the participants that a stage uses. A stage that uses none loads no client of the store. */
interface Modules {
  money: typeof import('./money.ts') | undefined;
  relay: typeof import('./relay.ts') | undefined;
}

/** To be called while the function starts: no request is in a hurry yet. */
export async function loadModules({ paid, notifies }: Contract): Promise<Modules> {
  const isCounted = paid !== undefined && config.usageRecords().USAGE_RECORDS === 'on';
  const isRelayed = notifies !== undefined && config.notifications().NOTIFICATIONS === 'relay';
  const [money, relay] = await Promise.all([
    isCounted ? import('./money.ts') : undefined,
    isRelayed ? import('./relay.ts') : undefined,
  ]);
  return { money, relay };
}

/**
 * What surrounds one paid request, in the order in which it prepares: a replay needs nothing of the others, and money is
 * reserved last. `callOf` makes the call to the provider from the body that the provider gets.
 */
export function participantsOf(
  { money, relay }: Modules,
  contract: Contract,
  request: PaidRequest,
  key: IdempotencyKey | undefined,
  callOf: (body: unknown) => Outgoing,
): { participants: Participant[]; call: Outgoing; ceiling: number | undefined } {
  let spending: Money | undefined;
  const relayed = relay?.relayOf(contract, request, () => spending?.usageName);
  const names = { keyHash: key?.keyHash, ticketHash: relayed?.ticketHash };
  spending = money?.moneyOf(contract, request, names);
  const call = callOf(relayed ? relayed.relayedBody : request.body);
  const participants = [key, relayed, call, spending].filter((each) => each !== undefined);
  return { participants, call, ceiling: spending?.ceiling };
}

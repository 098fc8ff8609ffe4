import * as config from '../config.ts';
import type { Contract } from '../contract.ts';
import type { IdempotencyKey } from './idempotency-key.ts';
import type { Money } from './money.ts';
import type { Outgoing, PaidRequest, Participant } from './participant.ts';

/** Loaded only by a function that has paid requests. */
interface Modules {
  money: typeof import('./money.ts');
  relay: typeof import('./relay.ts') | undefined;
}

/** To be called while the function starts: no request is in a hurry yet. */
export async function loadModules({ notifies }: Contract): Promise<Modules> {
  const isRelayed = notifies !== undefined && config.notifications().NOTIFICATIONS === 'relay';
  const [money, relay] = await Promise.all([
    import('./money.ts'),
    isRelayed ? import('./relay.ts') : undefined,
  ]);
  return { money, relay };
}

/** In the order in which they prepare: a replay needs none of the others, and money is reserved last. */
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
  spending = money.moneyOf(contract, request, names);
  const call = callOf(relayed ? relayed.relayedBody : request.body);
  const participants = [key, relayed, call, spending].filter((each) => each !== undefined);
  return { participants, call, ceiling: spending?.ceiling };
}

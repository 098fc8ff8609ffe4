import * as config from '../config.ts';
import type { Contract } from '../contract.ts';
import type { IdempotencyKey } from './idempotency-key.ts';
import { type Money, moneyOf } from './money.ts';
import type { Outgoing, PaidRequest, Participant } from './participant.ts';
import { relayOf } from './relay.ts';

/** In the order in which they prepare: a replay needs none of the others, and money is reserved last. */
export function participantsOf(
  contract: Contract,
  request: PaidRequest,
  key: IdempotencyKey | undefined,
  callOf: (body: unknown) => Outgoing,
): { participants: Participant[]; call: Outgoing; ceiling: number | undefined } {
  let spending: Money | undefined;
  const isRelayed = contract.notifies !== undefined && config.notifications().NOTIFICATIONS === 'relay';
  const relayed = isRelayed ? relayOf(contract, request, () => spending?.usageName) : undefined;
  const names = { keyHash: key?.keyHash, ticketHash: relayed?.ticketHash };
  spending = moneyOf(contract, request, names);
  const call = callOf(relayed ? relayed.relayedBody : request.body);
  const participants = [key, relayed, call, spending].filter((each) => each !== undefined);
  return { participants, call, ceiling: spending?.ceiling };
}

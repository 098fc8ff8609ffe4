import { randomUUID } from 'node:crypto';
import { callerName } from '../caller.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import type { BodyOf, Contract } from '../contract.ts';
import { log } from '../log.ts';
import { IdempotencyKey } from '../requests/idempotency-key.ts';
import { withImageUrls } from '../requests/caller-images.ts';
import { type Money, moneyOf } from '../requests/money.ts';
import { relayOf } from '../requests/relay.ts';
import { type Outgoing, type PreparedRequest, runRequest } from '../requests/run-request.ts';
import type { StartedTask } from '../providers/provider-call.ts';
import { jsonAnswer } from './answer.ts';
import type { SerializedJson } from '../bounded-json.ts';
import { lambdaHandler, type ReplyBody } from './endpoint.ts';

/** An operation that buys a task of a provider: the call that starts it, and what its reply says to our caller. */
export function paidEndpoint<C extends Contract>(
  contract: C,
  callOf: (context: Context, body: () => Promise<BodyOf<C>>, contract: C) => Outgoing,
  replyOf: (started: StartedTask, body: BodyOf<C>, contract: C) => ReplyBody<C> | SerializedJson,
) {
  return lambdaHandler(contract, undefined, async (call, keyed, progress) => {
    const { requestId, context } = call;
    const caller = callerName(call.caller);
    const request = { attempt: randomUUID(), caller, body: call.body, requestId, context };
    const key = keyed && new IdempotencyKey({ ...keyed, ...request });
    let money: Money | undefined;
    const isRelayed = config.notifications().NOTIFICATIONS === 'relay';
    const relay = isRelayed ? relayOf(contract, request, () => money?.usageName) : undefined;
    money = moneyOf(contract, request, { keyHash: key?.keyHash, ticketHash: relay?.ticketHash });
    const sentBody = async () => {
      const body = await withImageUrls(context, caller, call.body);
      return (relay?.relayed(body) ?? body) as BodyOf<C>;
    };
    const outgoing = callOf(context, sentBody, contract);
    const buyTask: PreparedRequest['send'] = async () => {
      // What dies now, by time, memory or a kill, leaves no other line.
      log('info', 'sending');
      const started = { ...(await outgoing.startTask()), ceiling: money?.ceiling };
      return {
        answer: jsonAnswer(contract.status, replyOf(started, call.body, contract)),
        task: started.task,
      };
    };
    // In the order in which they prepare: a replay needs none of the others, and money is reserved last.
    const participants = [key, relay, outgoing, money].filter((each) => each !== undefined);
    return runRequest({ participants, isPaid: true, send: buyTask, context }, progress);
  });
}

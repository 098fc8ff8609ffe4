import { randomUUID } from 'node:crypto';
import { callerName } from '../caller.ts';
import type { BodyOf, Contract } from '../contract.ts';
import { log } from '../log.ts';
import { IdempotencyKey } from '../paid/idempotency-key.ts';
import type { Outgoing } from '../paid/participant.ts';
import { participantsOf } from '../paid/participants.ts';
import { type PreparedRequest, runRequest } from '../paid/run-request.ts';
import { withUploads } from '../paid/uploads.ts';
import type { StartedTask } from '../providers/provider.ts';
import { jsonAnswer } from './answer.ts';
import type { SerializedJson } from './bounded-json.ts';
import { type Call, lambdaHandler, type ReplyBody } from './endpoint.ts';

/** An operation that buys a task of a provider: the call that starts it, and what its reply says to our caller. */
export function paidEndpoint<C extends Contract>(
  contract: C,
  callOf: (call: Call<C>) => Outgoing,
  replyOf: (started: StartedTask, call: Call<C>) => ReplyBody<C> | SerializedJson,
) {
  return lambdaHandler(contract, undefined, async (call, keyed, progress) => {
    const { requestId, context } = call;
    const body = await withUploads(context, callerName(call.caller), call.body);
    const request = { attempt: randomUUID(), caller: callerName(call.caller), body, requestId, context };
    const key = keyed && new IdempotencyKey({ ...keyed, ...request });
    const surrounding = participantsOf(contract, request, key, (given) =>
      callOf({ ...call, body: given as BodyOf<C> }),
    );
    const send: PreparedRequest['send'] = async () => {
      // What dies now, by time, memory or a kill, leaves no other line.
      log('info', 'sending');
      const { task, reply } = await surrounding.call.send();
      const started = { task, reply, ceiling: surrounding.ceiling };
      return { answer: jsonAnswer(contract.status, replyOf(started, call)), task };
    };
    return runRequest({ ...surrounding, isPaid: true, send, context }, progress);
  });
}

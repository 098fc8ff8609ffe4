import { randomUUID } from 'node:crypto';
import { jsonAnswer } from '../answer.ts';
import { admitWithToken } from '../auth/body-tokens.ts';
import { afterwards, beforeSending } from '../attempts/request.ts';
import { claim, free, keepAnswer, slotOf } from '../attempts/slot.ts';
import type { Contract, ReplyBody } from '../contract.ts';
import { apiErrorOf } from '../errors.ts';
import { type Call, lambdaHandler, type Reply } from './endpoint.ts';

interface Repeatable<C extends Contract> {
  reply: () => Promise<Reply<C>>;
  /** Refreshes what a kept response has for a short time only, such as a signed URL. */
  refresh: (kept: ReplyBody<C>) => Promise<ReplyBody<C>>;
}

/**
 * An operation that costs nothing and may be sent again with its Idempotency-Key: the first response is kept and replayed.
 * Its body may have the token of a publisher or a CI job.
 */
export function keyedEndpoint<C extends Contract>(contract: C, handler: (call: Call<C>) => Repeatable<C>) {
  return lambdaHandler(contract, admitWithToken, async (call, { keyed }) => {
    const { reply, refresh } = handler(call);
    const respond = async () => {
      const { body, headers } = await reply();
      return jsonAnswer(contract.status, body, headers);
    };
    if (keyed === undefined) return respond();
    const { context } = call;
    const slot = slotOf(context, keyed, randomUUID());
    const kept = await beforeSending(() => claim(slot));
    if (kept) return { ...kept, body: JSON.stringify(await refresh(JSON.parse(kept.body))) };
    try {
      const answer = await respond();
      await afterwards(context, 'succeed', { idempotency: keepAnswer(slot, answer) });
      return answer;
    } catch (thrown) {
      const error = apiErrorOf(thrown);
      await afterwards(context, 'fail', { idempotency: free(slot) });
      throw error;
    }
  });
}

import { callerName } from '../caller.ts';
import * as config from '../config.ts';
import type { BodyOf } from '../contract.ts';
import { boughtNothing } from '../errors.ts';
import { log } from '../log.ts';
import { type Provider, ProviderCall, type StartedTask } from '../providers/provider-call.ts';
import { afterwards, allStored, apiErrorOf, beforeSending, nameAttempt } from '../requests/attempt.ts';
import { withImageUrls } from '../requests/caller-images.ts';
import { IdempotencyKey } from '../requests/idempotency-key.ts';
import { Money, type PaidContract } from '../requests/money.ts';
import { Relay } from '../requests/relay.ts';
import type { SerializedJson } from '../json.ts';
import { repeatUntilDeadline } from '../store/dynamodb.ts';
import { jsonAnswer } from './gateway-handler.ts';
import { lambdaHandler, type ReplyBody } from './endpoint.ts';

/** An operation's call to its provider. */
interface ProviderRequest<C extends PaidContract> {
  provider: () => Provider;
  path: string;
  /** Makes the provider's body from a valid request. */
  body: (request: BodyOf<C>) => object;
  /** Makes our response from the provider's reply. */
  reply: (started: StartedTask, request: BodyOf<C>, contract: C) => ReplyBody<C> | SerializedJson;
}

/** An operation that buys a task of a provider: the whole flow of a paid request. */
export function paidEndpoint<C extends PaidContract>(contract: C, call: ProviderRequest<C>) {
  return lambdaHandler(contract, undefined, async ({ body, context, ...request }, keyed, progress) => {
    const caller = callerName(request.caller);
    const { requestId } = request;
    const isRelayed = config.notifications().NOTIFICATIONS === 'relay';
    const attempt = nameAttempt({ operation: contract.name, caller, requestId }, { keyed, isRelayed });
    const { relayedTask } = attempt;
    const key = keyed && new IdempotencyKey(keyed, { attempt: attempt.id, context });
    const relay = relayedTask && new Relay(context, attempt, relayedTask, contract.notifies, Object(body));
    const money = new Money(context, attempt, contract.price, Object(body));
    const outgoing = new ProviderCall(context, call.provider(), call.path);
    const taskHeaders = relay?.taskHeaders ?? {};
    try {
      const replayed = await beforeSending(async () => {
        // A replay needs none of the rest, and money is reserved last.
        const kept = await key?.acquire();
        if (kept) return kept;
        relay?.requireReceiver();
        const withImages = await withImageUrls(context, caller, body);
        await outgoing.prepare(call.body(relay ? relay.redirected(withImages) : withImages));
        await money.reserve();
        await allStored([key?.markSent(taskHeaders), relay?.record(money.usageName), money.open()]);
        return undefined;
      });
      if (replayed) return replayed;

      Object.assign(progress, { isSent: true, taskHeaders });
      // If the function dies now, by timeout, memory or a kill, this is its only line.
      log('info', 'sending');
      repeatUntilDeadline(context);
      const started = await outgoing.startTask();

      const { task } = started;
      const reply = call.reply(started, body, contract);
      const given = jsonAnswer(contract.status, reply, taskHeaders);
      const answer = relay?.inAnswer(given) ?? given;
      await afterwards(context, 'succeed', {
        idempotency: key?.keep(answer, task),
        spending: money.charge(task),
        relay: relay?.taken(task),
      });
      return { ...answer, headers: { ...answer.headers, ...money.headers(task) } };
    } catch (thrown) {
      const known = apiErrorOf(thrown);
      const error = relay?.inError(known) ?? known;
      await afterwards(context, 'fail', {
        idempotency: key?.release(error),
        spending: money.release(error),
        relay: relay?.failed(error),
      });
      const named = boughtNothing(error) ? {} : taskHeaders;
      throw error.with({ headers: { ...error.headers, ...named, ...money.headers() } });
    }
  });
}

import { type Answer, jsonAnswer } from '../answer.ts';
import { admit } from '../auth/access-tokens.ts';
import { attemptName, beginAttempt, type Begun, newAttempt, taskHeaders } from '../attempts/attempt.ts';
import { withImageUrls } from '../attempts/caller-images.ts';
import { Purchase } from '../attempts/purchase.ts';
import { afterwards, beforeSending } from '../attempts/request.ts';
import { requireOpenProxies } from '../attempts/proxy-access.ts';
import { requireStageBudget } from '../attempts/stage-day.ts';
import { claim, free, keepAnswer, type Slot, slotOf } from '../attempts/slot.ts';
import { callerName } from '../caller.ts';
import * as config from '../config.ts';
import type { BodyOf, PaidContract, ReplyBody } from '../contract.ts';
import { apiErrorOf } from '../errors.ts';
import type { SerializedJson } from '../json.ts';
import { log } from '../log.ts';
import { Relay } from '../notifications/relay.ts';
import { prepareTask, type Provider, type StartedTask } from '../providers/provider-call.ts';
import { type Call, lambdaHandler, type Request } from './endpoint.ts';

/** How operations call their provider. */
interface ProviderRequest<C extends PaidContract> {
  provider: () => Provider;
  /** Makes the provider's body from a valid request. */
  body: (request: BodyOf<C>) => object;
  /** Makes our response from the provider's reply. */
  reply: (started: StartedTask, request: BodyOf<C>, contract: C) => ReplyBody<C> | SerializedJson;
}

/** An operation that buys a task of a provider. */
export function paidEndpoint<C extends PaidContract>(contract: C, provides: ProviderRequest<C>) {
  return lambdaHandler(contract, admit, async (call, { keyed, progress, schema }) => {
    const begun = beginAttempt();
    const slot = keyed && slotOf(call.context, keyed, attemptName(begun), callerName(call.caller));
    const replayed = slot && (await beforeSending(() => claim(slot)));
    return replayed ?? buy(contract, provides, { ...call, begun, slot, progress, schema });
  });
}

interface PaidRequest<C extends PaidContract> extends Call<C>, Pick<Request, 'progress' | 'schema'> {
  begun: Begun;
  slot: Slot | undefined;
}

/** The whole flow of a paid request that is no replay. */
async function buy<C extends PaidContract>(
  contract: C,
  provides: ProviderRequest<C>,
  { body, context, begun, slot, progress, schema, ...request }: PaidRequest<C>,
): Promise<Answer> {
  const caller = callerName(request.caller);
  const isRelayed = config.notifications().NOTIFICATIONS === 'relay';
  const relay = isRelayed ? new Relay(contract.notifies, Object(body), request.caller) : undefined;
  const names = {
    operation: contract.name,
    caller,
    request_id: request.requestId,
    task_hash: relay?.taskHash,
    status_key: relay?.statusKey,
    key_hash: slot?.keyHash,
  };
  const attempt = newAttempt(begun, names, contract.price, Object(body));
  const purchase = new Purchase(context, attempt);
  try {
    const startTask = await beforeSending(async () => {
      requireOpenProxies(request.caller);
      relay?.requireReceiver();
      await requireStageBudget(context, begun.at);
      const withImages = await withImageUrls(context, caller, { schema, body });
      const outgoing = provides.body(relay ? relay.redirected(withImages) : withImages);
      const path = contract.path.replace(/^\/proxy\/[^/]+/, '');
      const prepared = await prepareTask(context, provides.provider(), path, outgoing);
      await purchase.begin(relay && (() => relay.record(context, attempt)));
      return prepared;
    });

    progress.sentHeaders = taskHeaders(attempt);
    // If the function dies now, by timeout, memory or a kill, this is its only line.
    log('info', 'sending');
    // A purchase may be recorded until the deadline.
    context.retries = undefined;
    const started = await startTask();

    const given = jsonAnswer(contract.status, provides.reply(started, body, contract), taskHeaders(attempt));
    const answer = relay?.inAnswer(given) ?? given;
    await afterwards(context, 'succeed', {
      idempotency: slot && keepAnswer(slot, answer),
      spending: purchase.taken(started.task),
      results: relay?.name(context, started.task.taskId),
    });
    return { ...answer, headers: { ...answer.headers, ...purchase.headers(started.task) } };
  } catch (thrown) {
    const known = apiErrorOf(thrown);
    const error = relay?.inError(known) ?? known;
    const isNothing = error.payment === 'rejected';
    await afterwards(context, 'fail', {
      idempotency: purchase.isSent ? undefined : slot && free(slot),
      spending: purchase.failed(error),
      relay: isNothing && purchase.isReserved ? relay?.forget(context) : undefined,
    });
    const named = isNothing ? {} : taskHeaders(attempt);
    throw error.with({ headers: { ...error.headers, ...named, ...purchase.headers() } });
  }
}

import { randomUUID } from 'node:crypto';
import type * as z from 'zod/mini';
import { admit, type JobOf, tokenIn } from '../auth/access-tokens.ts';
import { type Caller, callerName } from '../caller.ts';
import type { CiJob } from '../auth/ci-tokens.ts';
import { type Context, describeOpenCalls, endOf, inTime, requestContext } from '../context.ts';
import * as config from '../config.ts';
import { type Access, bodySchema, type Contract } from '../contract.ts';
import { ApiError } from '../errors.ts';
import { afterwards, type Answer, apiErrorOf, beforeSending, type Keyed } from '../attempts/request.ts';
import { claim, free, keepAnswer, slotOf } from '../attempts/slot.ts';
import { ignoredFields } from './ignored-fields.ts';
import { type CheckedRequest, readOnce, readRequest } from './read-request.ts';
import { gatewayHandler, type GatewayRequest, jsonAnswer } from './gateway-handler.ts';
import type { SerializedJson } from '../json.ts';

type CallerOf<A extends Access> = A extends 'user'
  ? Caller
  : A extends 'anyone'
    ? undefined
    : Caller | undefined;

/** The input of a handler: the parsed and checked request, and its caller. */
export interface Call<C extends Contract> extends CheckedRequest<C> {
  /** The body before it was checked. */
  sent: unknown;
  caller: CallerOf<C['access']>;
  /** The CI job that calls instead of a person. */
  job: CiJob | undefined;
  ifMatch: string | undefined;
  requestId: string;
  context: Context;
}

export type ReplyBody<C extends Contract> = z.input<C['reply']>;

interface Reply<C extends Contract> {
  body: ReplyBody<C> | SerializedJson;
  headers?: Record<string, string> | undefined;
}

type Handler<C extends Contract> = (call: Call<C>) => Promise<Reply<C>>;

interface Options<C extends Contract> {
  jobOf?: JobOf;
  /** Refreshes short-lived fields, such as signed URLs, in a replayed response. */
  refresh?: (kept: ReplyBody<C>, call: Call<C>) => Promise<ReplyBody<C>>;
}

/** An operation as a Lambda handler. With an Idempotency-Key, the first response is kept and replayed. */
export function endpoint<C extends Contract>(contract: C, handler: Handler<C>, options: Options<C> = {}) {
  const { refresh, jobOf } = options;
  return lambdaHandler(contract, jobOf, async (call, keyed) => {
    const respond = async () => {
      const { body, headers } = await handler(call);
      return jsonAnswer(contract.status, body, headers);
    };
    if (keyed === undefined) return respond();
    const { context } = call;
    const slot = slotOf(context, keyed, { attempt: randomUUID() });
    const kept = await beforeSending(() => claim(slot));
    if (kept && refresh) return { ...kept, body: JSON.stringify(await refresh(JSON.parse(kept.body), call)) };
    if (kept) return kept;
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

/** For a late response: set once something was sent that may cost money. */
interface Progress {
  sentHeaders?: Record<string, string>;
}

type Work<C extends Contract> = (
  call: Call<C>,
  keyed: Keyed | undefined,
  progress: Progress,
) => Promise<Answer>;

/** A store that hangs can outlast every deadline; respond while there is still time. */
const lastAnswerMs = 400;

/** Steps that return a value are called here, in order; steps that surround all of them are middlewares. */
export function lambdaHandler<C extends Contract>(contract: C, jobOf: JobOf | undefined, work: Work<C>) {
  const schema = config.atStart(config.configured(() => bodySchema(contract, config.videoRules)));
  return gatewayHandler(contract.name, async (request, invocation) => {
    const endsAt = endOf(invocation);
    const body = readOnce(request, contract.freeForm);
    const { caller, job } = await admit(contract.access, request.headers.authorization, body, jobOf);
    const call = {
      ...readRequest(contract, schema(), request, body),
      sent: body(),
      caller: caller as CallerOf<C['access']>,
      job,
      ifMatch: request.headers['if-match'],
      requestId: request.requestId,
      context: requestContext(invocation),
    };
    const progress: Progress = {};
    const late = () => {
      const code = progress.sentHeaders ? 'provider_timeout' : 'unavailable';
      const reason = describeOpenCalls(call.context);
      return new ApiError(code, { reason, headers: { ...progress.sentHeaders } });
    };
    const working = work(call, keyedRequest(contract, call, request), progress);
    const answer = await inTime(working, endsAt - lastAnswerMs, late);
    // Also for a replay: an ignored field may be why the response is not what the caller meant.
    const ignored = ignoredFields(schema(), body());
    if (ignored === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, 'x-ignored-fields': ignored } };
  });
}

function keyedRequest<C extends Contract>(
  { name, access, idempotent }: C,
  { caller, path, body }: Call<C>,
  { headers }: GatewayRequest,
): Keyed | undefined {
  const key = idempotent ? headers['idempotency-key'] : undefined;
  if (key === undefined) return undefined;
  const token = caller ? undefined : tokenIn(body, access);
  const scope = token === undefined ? callerName(caller) : `token:${token}`;
  return { key, scope, request: JSON.stringify([name, path, body]) };
}

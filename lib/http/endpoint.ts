import type * as z from 'zod/mini';
import { type Answer, jsonAnswer } from '../answer.ts';
import { type Admitted, admit } from '../auth/access-tokens.ts';
import type { Caller } from '../caller.ts';
import type { CiJob } from '../auth/ci-tokens.ts';
import { type Context, describeOpenCalls, inTime, requestContext } from '../context.ts';
import * as config from '../config.ts';
import { type Access, bodySchema, type Contract, type ReplyBody } from '../contract.ts';
import { ApiError } from '../errors.ts';
import type { Keyed } from '../attempts/request.ts';
import { ignoredFields } from './ignored-fields.ts';
import { readOnce } from './json-body.ts';
import { type CheckedRequest, readRequest } from './read-request.ts';
import { gatewayHandler } from './gateway-handler.ts';
import type { SerializedJson } from '../json.ts';

type CallerOf<A extends Access> = A extends 'user'
  ? Caller
  : A extends 'anyone'
    ? undefined
    : A extends { bodyToken: string }
      ? Caller | CiJob | undefined
      : Caller | undefined;

/** The input of a handler: the parsed and checked request, and its caller. */
export interface Call<C extends Contract> extends CheckedRequest<C> {
  caller: CallerOf<C['access']>;
  ifMatch: string | undefined;
  requestId: string;
  context: Context;
}

export interface Reply<C extends Contract> {
  body: ReplyBody<C> | SerializedJson;
  headers?: Record<string, string> | undefined;
}

type Handler<C extends Contract> = (call: Call<C>) => Promise<Reply<C>>;

/** An operation as a Lambda handler. */
export function endpoint<C extends Contract>(contract: C, handler: Handler<C>) {
  return lambdaHandler(contract, admit, async (call) => {
    const { body, headers } = await handler(call);
    return jsonAnswer(contract.status, body, headers);
  });
}

/** For a late response: set once something was sent that may cost money. */
interface Progress {
  sentHeaders?: Record<string, string>;
}

/** What only some operations need of a request. */
export interface Request {
  keyed: Keyed | undefined;
  progress: Progress;
  schema: z.ZodMiniType;
}

type Work<C extends Contract> = (call: Call<C>, request: Request) => Promise<Answer>;

type Admission = (
  access: Access,
  authorization: string | undefined,
  readBody: () => unknown,
) => Promise<Admitted<Caller | CiJob | undefined>>;

/** A store that hangs can outlast the deadline by this; then there is still time to respond. */
const marginMs = 600;

/** Steps that return a value are called here, in order; steps that surround all of them are middlewares. */
export function lambdaHandler<C extends Contract>(contract: C, admission: Admission, work: Work<C>) {
  const schemaNow = config.atStart(() => bodySchema(contract, config.videoRules));
  return gatewayHandler(contract.name, async (request, invocation) => {
    const context = requestContext(invocation);
    const schema = schemaNow();
    const body = contract.body ? readOnce(request, contract.asWritten) : () => undefined;
    const { caller, scope } = await admission(contract.access, request.headers.authorization, body);
    const call = {
      ...readRequest(contract, schema, request, body),
      caller: caller as CallerOf<C['access']>,
      ifMatch: request.headers['if-match'],
      requestId: request.requestId,
      context,
    };
    const progress: Progress = {};
    const late = () => {
      const code = progress.sentHeaders ? 'provider_timeout' : 'unavailable';
      const reason = describeOpenCalls(context);
      return new ApiError(code, { reason, headers: { ...progress.sentHeaders } });
    };
    const key = contract.idempotent ? request.headers['idempotency-key'] : undefined;
    const keyed = key === undefined ? undefined : { key, scope, request: requestOf(contract, call) };
    const working = work(call, { keyed, progress, schema });
    const answer = await inTime(working, context.deadline + marginMs, late);
    // Also for a replay: an ignored field may be why the response is not what the caller meant.
    const ignored = ignoredFields(schema, body());
    if (ignored === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, 'x-ignored-fields': ignored } };
  });
}

/** Equal for equal requests. */
function requestOf({ name }: Contract, { path, body }: CheckedRequest<Contract>): string {
  return JSON.stringify([name, path, body]);
}

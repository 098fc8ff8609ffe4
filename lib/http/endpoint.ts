import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type * as z from 'zod/mini';
import type { BoughtTask } from '../bought-task.ts';
import { type Caller, callerName } from '../caller.ts';
import type { CiJob } from '../ci-job.ts';
import * as config from '../config.ts';
import { type Access, type BodyOf, bodySchema, type Contract } from '../contract.ts';
import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import { issueDetails } from '../validation-issues.ts';
import { admit, type JobOf, tokenIn } from './admit.ts';
import { type Answer, errorAnswer, jsonAnswer } from './answer.ts';
import type { SerializedJson } from './bounded-json.ts';
import { endOf, inTime, reservedMs } from './deadline.ts';
import type { Claim } from './idempotency.ts';
import { parseJsonBody } from './json-body.ts';
import { logRequest } from './log-request.ts';
import { answerInPhases, loadRelay, loadSpending, type Relaying, type Spending } from './phases.ts';

type CallerOf<A extends Access> = A extends 'user'
  ? Caller
  : A extends 'anyone'
    ? undefined
    : Caller | undefined;

/** What a handler gets: the request, parsed and checked, and who asks. */
export interface Call<C extends Contract> {
  path: z.infer<C['parameters']>;
  body: BodyOf<C>;
  caller: CallerOf<C['access']>;
  /** The job of a CI that asks, in the place of a person. */
  job: CiJob | undefined;
  ifMatch: string | undefined;
  requestId: string;
  /** Milliseconds since the epoch by which everything must be done. */
  deadline: number;
  /** To be awaited right before paid work is sent; see lib/http/phases.ts. */
  beforeSending: () => Promise<void>;
}

type ReplyBody<C extends Contract> = z.input<C['reply']>;

interface Reply<Body> {
  body: Body | SerializedJson;
  headers?: Record<string, string> | undefined;
  /** What a paid request bought. */
  bought?: BoughtTask;
}

type Handler<C extends Contract> = (call: Call<C>) => Promise<Reply<ReplyBody<C>>>;

interface Options<C extends Contract> {
  jobOf?: JobOf;
  /** Renews what a kept answer has that does not last, when an Idempotency-Key brings it again. */
  refresh?: (kept: ReplyBody<C>, call: Call<C>) => Promise<ReplyBody<C>>;
}

/** The gateway's event: its headers are there, and the id of the request is known. */
interface GatewayRequest extends APIGatewayProxyEventV2 {
  requestId: string;
}

/** A store that hangs can outlast every deadline; the caller gets an answer while there is still time for one. */
const lastAnswerMs = 400;

/**
 * Turns a contract and its handler into a Lambda handler. This is the only place that knows middy and API Gateway:
 * it finds the caller, parses and checks the request, runs the handler, turns its reply or its error into an answer,
 * and writes the request's one log line.
 */
export function endpoint<C extends Contract>(contract: C, handler: Handler<C>, options: Options<C> = {}) {
  const operation = config.atStart(
    config.configured(
      (): Operation<C> => ({
        contract,
        body: bodySchema(contract, config.videoRules),
        handler,
        spending: loadSpending(contract),
        relaying: loadRelay(contract),
        ...options,
      }),
    ),
  );
  const pipeline = middy<GatewayRequest, Answer>(
    (request: GatewayRequest, context: Context) => respond(operation(), request, context),
    // The early answer is ours: middy's starts and stops a timer for every request.
    { timeoutEarlyInMillis: 0 },
  ).onError((failed) => {
    failed.response = errorAnswer(failed.error, failed.event.requestId);
  });

  return (event: APIGatewayProxyEventV2, context: Context): Promise<Answer> =>
    logRequest(contract.name, event, (requestId) =>
      pipeline({ ...event, headers: event.headers ?? {}, requestId }, context),
    );
}

interface Operation<C extends Contract> extends Options<C> {
  contract: C;
  body: z.ZodMiniType;
  handler: Handler<C>;
  spending: Promise<Spending> | undefined;
  relaying: Promise<Relaying> | undefined;
}

/** A request from its token to its answer, top to bottom. */
async function respond<C extends Contract>(
  operation: Operation<C>,
  request: GatewayRequest,
  context: Context,
): Promise<Answer> {
  const { contract, jobOf } = operation;
  const endsAt = endOf(context);
  const { caller, job } = await admit(contract.access, request, jobOf);
  const call = {
    ...readRequest<C>(operation, request),
    caller: caller as CallerOf<C['access']>,
    job,
    ifMatch: request.headers['if-match'],
    requestId: request.requestId,
    deadline: endsAt - reservedMs,
  };
  const key = contract.idempotent ? request.headers['idempotency-key'] : undefined;
  const progress = { isSent: false };
  const answer =
    key === undefined ? answerAlways(operation, call, progress) : answerOnce(operation, call, progress, key);
  const late = () => new ApiError(progress.isSent ? 'provider_timeout' : 'unavailable');
  return inTime(answer, endsAt - lastAnswerMs, late);
}

type Unsent<C extends Contract> = Omit<Call<C>, 'beforeSending'>;

/** Whether something was sent that may cost money. An answer that comes too late must not say that nothing was. */
interface Progress {
  isSent: boolean;
}

async function answerAlways<C extends Contract>(
  { contract, handler, spending, relaying }: Operation<C>,
  call: Unsent<C>,
  progress: Progress,
  claim?: Claim,
): Promise<Answer> {
  const caller = callerName(call.caller);
  const attempt = (await spending)?.startAttempt(contract, caller, call, claim?.keyHash);
  const task = (await relaying)?.relayTask(contract, caller, call);
  const work = async (beforeSending: () => Promise<void>) => {
    const { body, headers, bought } = await handler({
      ...call,
      ...(task && { body: task.relayed(call.body) }),
      beforeSending: async () => {
        await beforeSending();
        progress.isSent = true;
      },
    });
    return { answer: jsonAnswer(contract.status, body, headers), bought };
  };
  if (!claim && !attempt && !task) return (await work(unpaid)).answer;
  return answerInPhases({ claim, attempt, task, deadline: call.deadline }, work);
}

/** Nothing has to be written before such a request is sent. */
async function unpaid(): Promise<void> {}

/** The same for a request with an Idempotency-Key: the claim that it has to its key goes along, or nothing is done. */
async function answerOnce<C extends Contract>(
  operation: Operation<C>,
  call: Unsent<C>,
  progress: Progress,
  key: string,
): Promise<Answer> {
  const { contract, refresh } = operation;
  const { claimKey } = await import('./idempotency.ts');
  const claimed = await claimKey({
    key,
    scope: scopeOf(contract, call),
    request: JSON.stringify([contract.name, call.path, call.body]),
    deadline: call.deadline,
  });
  if ('kept' in claimed) {
    note({ idempotent_replay: true });
    const { statusCode, headers, body } = claimed.kept;
    const renewed =
      refresh && JSON.stringify(await refresh(JSON.parse(body), { ...call, beforeSending: unpaid }));
    return { statusCode, headers: { ...headers, 'idempotent-replayed': 'true' }, body: renewed ?? body };
  }
  return answerAlways(operation, call, progress, claimed.claim);
}

/** Whose Idempotency-Key it is. */
function scopeOf<C extends Contract>({ access }: C, { caller, body }: Unsent<C>): string {
  const token = caller ? undefined : tokenIn(body, access);
  return token === undefined ? callerName(caller) : `token:${token}`;
}

/** Checks path and body together, so that all issues of a request are named at once. */
function readRequest<C extends Contract>(
  { contract, body: schema }: Operation<C>,
  request: GatewayRequest,
): Pick<Call<C>, 'path' | 'body'> {
  const input = parseJsonBody(request);
  const parameters = request.pathParameters ?? {};
  const path = contract.parameters.safeParse(parameters);
  const body = schema.safeParse(input);
  if (path.error || body.error) {
    const details = issueDetails([
      { root: 'path', error: path.error, input: parameters },
      { root: 'body', error: body.error, input },
    ]);
    throw new ApiError('invalid_request', { details });
  }
  return { path: path.data as Call<C>['path'], body: body.data as Call<C>['body'] };
}

import { hash } from 'node:crypto';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type * as z from 'zod/mini';
import { authenticate, type Caller } from '../auth/access-tokens.ts';
import type { Access, Contract } from '../contract.ts';
import { readEnvironment } from '../environment.ts';
import { ApiError } from '../errors.ts';
import { faultsOf } from '../validation-issues.ts';
import { inTime } from './deadline.ts';
import { parseJsonBody } from './json-body.ts';
import { describeError, log, note, withLogFields } from '../log.ts';
import type { ErrorBody } from '../schemas/error-body.ts';
import { SerializedJson } from './bounded-json.ts';

type CallerOf<A extends Access> = A extends 'user'
  ? Caller
  : A extends 'anyone'
    ? undefined
    : Caller | undefined;

/** What a story is told: the request, parsed and checked, and who asks. */
interface Call<C extends Contract> {
  path: z.infer<C['parameters']>;
  body: z.infer<C['body']>;
  caller: CallerOf<C['access']>;
  ifMatch: string | undefined;
  /** Milliseconds since the epoch by which everything must be done. */
  deadline: number;
  /** To be awaited right before paid work is sent; see lib/http/idempotency.ts. */
  beforeSending: () => Promise<void>;
}

interface Reply<Body> {
  body: Body | SerializedJson;
  headers?: Record<string, string> | undefined;
}

/** A finished answer, as API Gateway takes it. */
export interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

/** The gateway's event with what the steps before the story found out about it. */
interface RequestEvent extends APIGatewayProxyEventV2 {
  requestId: string;
  caller?: Caller | undefined;
  path?: unknown;
  input?: unknown;
}

type Idempotent = NonNullable<Contract['idempotent']>;

type Story<C extends Contract> = (call: Call<C>) => Promise<Reply<z.input<C['reply']>>>;

const environment = readEnvironment('tokens');
const jsonHeaders = { 'content-type': 'application/json' };

/** Time kept back from the invocation's own limit, so that an answer still leaves when work is cut off. */
const reservedMs = 1000;
const defaultLimitMs = 29_000;

/** A store that hangs can outlast every deadline; the caller is told so while there is still time to. */
const lastWordMs = 400;

let isColdStart = true;

/**
 * Turns a contract and the story behind it into a Lambda handler. This is the only place that knows middy and
 * API Gateway: it finds the caller, parses and checks the request, tells the story, renders its reply or its
 * error, and writes the request's one log line.
 */
export function endpoint<C extends Contract>(contract: C, story: Story<C>) {
  const pipeline = middy<RequestEvent, Answer>(
    (event: RequestEvent, context: Context) => answer(contract, story, event, context),
    // The early answer is ours: middy's starts and stops a timer for every request.
    { timeoutEarlyInMillis: 0 },
  )
    .before(({ event }) => (contract.access === 'anyone' ? undefined : admit(contract.access, event)))
    .before(({ event }) => {
      checkRequest(contract, event);
    })
    .onError((request) => {
      request.response = render(request.event.requestId, request.error);
    });

  return async (event: APIGatewayProxyEventV2, context: Context): Promise<Answer> => {
    // `performance` would load a part of Node that nothing else here needs, for one to two milliseconds.
    const started = process.uptime();
    // The gateway always sends headers; an event that somebody wrote by hand may have none.
    const headers = event.headers ?? {};
    const gatewayId = event.requestContext.requestId;
    const requestId = requestIdOf(headers, gatewayId);
    const fields = {
      request_id: requestId,
      // The access log knows only the gateway's own id.
      ...(requestId !== gatewayId && { gateway_request_id: gatewayId }),
      function: contract.name,
      route: event.routeKey,
      cold_start: isColdStart,
    };
    isColdStart = false;
    return withLogFields(fields, async () => {
      const rendered = await pipeline({ ...event, headers, requestId }, context);
      const ms = Math.round((process.uptime() - started) * 1000);
      log(rendered.statusCode >= 500 ? 'error' : 'info', 'request', { status: rendered.statusCode, ms });
      return { ...rendered, headers: { ...rendered.headers, 'x-request-id': requestId } };
    });
  };
}

/** Finds out who calls, and refuses a caller that must say so and does not. */
async function admit(access: Exclude<Access, 'anyone'>, event: RequestEvent): Promise<void> {
  const caller = await authenticate(event.headers.authorization);
  if (caller) note({ principal: hash('sha256', caller.userId).slice(0, 16) });
  else if (access === 'user' || environment[access.userUnless] === 'required')
    throw new ApiError('unauthorized');
  event.caller = caller;
}

/** Checks path and body together, so that all faults of a request are named at once. */
function checkRequest(contract: Contract, event: RequestEvent): void {
  const input = parseJsonBody(event);
  const path = contract.parameters.safeParse(event.pathParameters ?? {});
  const body = contract.body.safeParse(input);
  const details = [
    ...(path.error ? faultsOf('path', path.error, event.pathParameters ?? {}) : []),
    ...(body.error ? faultsOf('body', body.error, input) : []),
  ];
  if (details.length > 0) throw new ApiError('invalid_request', { details });
  event.path = path.data;
  event.input = body.data;
}

function answer<C extends Contract>(
  contract: C,
  story: Story<C>,
  event: RequestEvent,
  context: Context,
): Promise<Answer> {
  const endsAt = Date.now() + (context.getRemainingTimeInMillis?.() ?? defaultLimitMs);
  const deadline = endsAt - reservedMs;
  const tell = async (beforeSending: () => Promise<void>): Promise<Answer> => {
    const { body, headers } = await story({
      path: event.path as Call<C>['path'],
      body: event.input as Call<C>['body'],
      caller: event.caller as Call<C>['caller'],
      ifMatch: event.headers['if-match'],
      deadline,
      beforeSending,
    });
    const text = body instanceof SerializedJson ? body.text : JSON.stringify(body);
    return { statusCode: contract.status, headers: { ...jsonHeaders, ...headers }, body: text };
  };
  const tellOnce = async (key: string, { principal }: Idempotent): Promise<Answer> => {
    const { answerOnce } = await import('./idempotency.ts');
    return answerOnce({
      key,
      principal: event.caller?.userId ?? principal?.(event.input as never) ?? 'anonymous',
      request: JSON.stringify([contract.name, event.path, event.input]),
      deadline,
      tell,
      render: (error) => render(event.requestId, error),
    });
  };
  const key = event.headers['idempotency-key'];
  const answered =
    contract.idempotent && key !== undefined ? tellOnce(key, contract.idempotent) : tell(async () => {});
  return inTime(answered, endsAt - lastWordMs, () => new ApiError('unavailable'));
}

/** The one place where an error becomes an answer. Only catalogue errors show their own text. */
function render(requestId: string, thrown: unknown): Answer {
  const error = thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown });
  note({ code: error.code, ...(error.status >= 500 && describeError(error)) });
  const { code, message, details } = error;
  const body: ErrorBody = { error: code, message, request_id: requestId };
  if (details.length > 0) body.details = [...details];
  return {
    statusCode: error.status,
    headers: { ...jsonHeaders, ...error.headers },
    body: JSON.stringify(body),
  };
}

function requestIdOf(headers: APIGatewayProxyEventV2['headers'], gatewayId: string): string {
  const given = headers['x-request-id'];
  return given !== undefined && /^[\w.-]{1,128}$/.test(given) ? given : gatewayId;
}

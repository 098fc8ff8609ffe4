import type { Context } from '../context.ts';
import type { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { BoughtTask } from '../providers/provider.ts';

/** A finished answer, as API Gateway takes it. */
export interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  /** Whether the body is base64, as a compressed one is. */
  isBase64Encoded?: boolean;
}

/** The answer to a request that was sent, and the task that it bought. */
export interface Sent {
  answer: Answer;
  task?: BoughtTask | undefined;
}

/**
 * One concern around a request: its Idempotency-Key, money, notifications or provider call. run-request.ts runs the phases.
 * A participant knows how far it got, so `succeed` and `fail` may follow any phase.
 */
export interface Participant {
  /** The event of the log line when the end of this participant fails. */
  readonly name: string;
  /** Headers that name the task: for every response once it may have started, and for replays. */
  readonly taskHeaders?: Record<string, string>;
  /** In order, before anything is stored for good. An answer ends the request: it was given before. */
  prepare?(): Promise<Answer | undefined>;
  /** Right before sending, all together: everything that must be stored before money can be spent. */
  record?(taskHeaders: Record<string, string>): Promise<void>;
  /** After sending, all together. These phases can neither change the answer nor hold it back. */
  succeed?(sent: Sent): Promise<void>;
  fail?(error: ApiError): Promise<void>;
  /** The answer, or the error, as the caller and a replay may see it. */
  inAnswer?(answer: Answer): Answer;
  inError?(error: ApiError): ApiError;
  /** Headers that are true of this answer only, so a replay lacks them. */
  headers?(sent?: Sent): Record<string, string>;
}

/** The call to the provider takes part too: it prepares before money is reserved. */
export interface Outgoing extends Participant {
  send(): Promise<{ task: BoughtTask; reply: JsonObject }>;
}

/** A paid request, as far as its participants need it. */
export interface PaidRequest {
  /** Names this attempt in all that is stored for it. */
  attempt: string;
  caller: string;
  body: unknown;
  requestId: string;
  context: Context;
}

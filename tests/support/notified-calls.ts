import { randomBytes } from 'node:crypto';
import type { TaskState } from '../../lib/schemas/video.ts';
import type { EndpointRequest } from './endpoints.ts';
import { proxyNames } from './operation-names.ts';
import { fc } from 'testing/properties';
import type { Path } from './notified.ts';
import type { Answer } from './receiver.ts';
import { type Strike, strikesIn } from './wire-faults.ts';

/** A call of a provider, or of an impostor. */
export interface ProviderCall {
  /** Which of the history's tasks it is about. */
  task: number;
  kind: 'genuine' | 'forged' | 'crossed' | 'unreadable';
  state: TaskState;
  /** How often the same call arrives, at the same moment. */
  copies: number;
  /** Whether it arrives together with the call before it. */
  isTogether: boolean;
  strikes: readonly Strike[];
}

export interface PaidTask {
  operation: string;
  hasAddress: boolean;
  strikes: readonly Strike[];
  /** How the caller's receiver answers its first notifications. */
  answers: readonly Answer[];
}

export interface History {
  tasks: PaidTask[];
  calls: ProviderCall[];
  /** The faults of each of the first runs of the delivery. */
  deliveries: readonly (readonly Strike[])[];
}

/** The calls to the store of an invocation; most invocations meet no fault. */
const strikes = (calls: number) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: strikesIn(calls) });

/** Together they leave one of the eight attempts of a notification that succeeds. */
const maxWrongAnswers = 4;
const maxFaultyRuns = 3;

/** The target of redirects. No request may reach it. */
export const forbiddenPath = '/elsewhere';
const wrongAnswers: Answer[] = [500, 404, 429, { redirectTo: forbiddenPath }, 'reset', 'halfway'];

/** An attempt waits ten seconds for a receiver that hangs, so few do. */
const answer: fc.Arbitrary<Answer> = fc.oneof(
  { weight: 200, arbitrary: fc.constantFrom(...wrongAnswers) },
  { weight: 40, arbitrary: fc.constant(410 as const) },
  { weight: 1, arbitrary: fc.constant('hang' as const) },
);

export const histories: fc.Arbitrary<History> = fc.record({
  tasks: fc.array(
    fc.record({
      operation: fc.constantFrom(...proxyNames),
      hasAddress: fc.nat(5).map((draw) => draw > 0),
      strikes: strikes(6),
      answers: fc.array(answer, { maxLength: maxWrongAnswers }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  calls: fc.array(
    fc.record({
      task: fc.nat(2),
      kind: fc.oneof(
        { weight: 8, arbitrary: fc.constant('genuine' as const) },
        { weight: 3, arbitrary: fc.constantFrom('forged', 'crossed', 'unreadable') },
      ),
      state: fc.constantFrom('created', 'queueing', 'processing', 'success', 'failed'),
      copies: fc.integer({ min: 1, max: 3 }),
      isTogether: fc.boolean(),
      strikes: strikes(3),
    }),
    { maxLength: 12, size: 'max' },
  ),
  deliveries: fc.array(strikesIn(24), { maxLength: maxFaultyRuns, size: 'max' }),
});

export const ranks: Record<TaskState, number> = {
  created: 0,
  queueing: 1,
  processing: 2,
  failed: 3,
  success: 4,
};

/** How the image provider says it; it has no word for a task that waits. */
const imageWords: Record<TaskState, string> = {
  created: 'CREATED',
  queueing: 'CREATED',
  processing: 'IN_PROGRESS',
  success: 'COMPLETED',
  failed: 'FAILED',
};

/** The state that a call is read as. */
export function stateSaid(provider: string, { state }: ProviderCall): TaskState {
  return provider === 'image' && state === 'queueing' ? 'created' : state;
}

/** The request of a call; no two calls have the same body. */
export function requestOf({ provider, ticket }: Path, call: ProviderCall, number: number): EndpointRequest {
  const said = provider === 'image' ? { status: imageWords[call.state] } : { state: call.state };
  const body = { ...said, number };
  const path = { provider, ticket };
  switch (call.kind) {
    case 'genuine':
      return { path, body };
    case 'forged':
      return { path: { ...path, ticket: randomBytes(32).toString('base64url') }, body };
    case 'crossed':
      return {
        path: { ...path, provider: provider === 'image' ? 'video' : 'image' },
        body: { ...body, ...both },
      };
    case 'unreadable':
      return { path, text: JSON.stringify(body).slice(1) };
  }
}

/** In the words of either provider. */
const both = { status: 'COMPLETED', state: 'success' };

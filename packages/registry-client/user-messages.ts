/** What the person at the screen reads, by code. A table with the same codes is a translation. */
export const userMessages = {
  invalid_request: 'Something in this request is not valid. Check it and try again.',
  provider_rejected: 'This request was not accepted. Change its words or images and try again.',
  unauthorized: 'You are not signed in any more. Sign in and try again.',
  forbidden: 'You are not allowed to do this.',
  caller_blocked: 'Your account is blocked.',
  budget_exhausted: 'Your credits are used up. Try again later.',
  too_many_requests: 'Too many requests. Try again in a few minutes.',
  provider_busy: 'The service is busy. Try again in a few minutes.',
  request_too_large: 'This is too large. Choose smaller images.',
  upload_failed: 'The upload failed. Try again.',
  idempotency_mismatch: 'This order was used for something else. Start a new one.',
  order_expired: 'This order is too old to go on with. Ask us what became of it.',
  task_failed: 'This could not be made. Change the request and start a new one.',
  still_running: 'This takes longer than usual. It goes on: come back later.',
  no_status: 'Its state cannot be shown. Ask us what became of it.',
  unreachable: 'There is no connection. Check yours and try again.',
  timed_out: 'There was no answer in time. Try again.',
  not_found: 'This is not there any more.',
  /** If the work may have been done, whatever the code. */
  in_doubt: 'It is not known yet whether this worked. Continue here: it is never paid twice.',
  /** For every other code. */
  other: 'Something went wrong. Try again later.',
};

export type UserMessages = typeof userMessages;

const certain = new Set(['order_expired', 'still_running', 'no_status', 'task_failed']);

/** The sentence for an error, of `messages` if given. */
export function userMessageOf(
  { code, mayBeDone }: { code: string; mayBeDone: boolean },
  messages: Partial<UserMessages> = {},
): string {
  const all: UserMessages = { ...userMessages, ...messages };
  if (mayBeDone && !certain.has(code)) return all.in_doubt;
  return Object.hasOwn(all, code) ? all[code as keyof UserMessages] : all.other;
}

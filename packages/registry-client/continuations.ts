import { type Continuation, RegistryError } from './registry-error.ts';

/* How the caller of a failed call goes on. */

/** Adds facts to an error that only its callers know. */
export function addFacts(error: RegistryError, facts: Continuation): RegistryError {
  return Object.assign(error, facts);
}

/** Nothing left this machine, and nothing will. */
export function isUnsent({ code, status }: RegistryError): boolean {
  return status === undefined && /^(?:invalid_request|idempotency_mismatch|order_expired)$/.test(code);
}

/** The errors of a call retry the whole of it. */
export async function retriedWhole<Result>(call: () => Promise<Result>): Promise<Result> {
  return call().catch((error: unknown) => {
    if (!(error instanceof RegistryError) || isUnsent(error)) throw error;
    throw addFacts(error, { retry: () => retriedWhole(call) });
  });
}

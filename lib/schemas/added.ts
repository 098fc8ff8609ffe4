import * as z from 'zod/mini';

/** Describes a field of an answer that the interface does not have. */
export function added(description: string) {
  return z.describe(`Added by this service: ${description}`);
}

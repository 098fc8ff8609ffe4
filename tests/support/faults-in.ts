import type * as z from 'zod/mini';
import { faultsOf } from '../../lib/validation-issues.ts';

/** The faults of a request as `field message`; none where it is taken. */
export function faultsIn(schema: z.ZodMiniType, input: unknown): string[] {
  const { error } = schema.safeParse(input);
  return error ? faultsOf('body', error, input).map(({ path, message }) => `${path} ${message}`) : [];
}

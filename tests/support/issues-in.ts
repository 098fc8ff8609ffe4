import type * as z from 'zod/mini';
import { issueDetails } from '../../lib/validation-issues.ts';

/** The issues of a request as `field message`; none if it is accepted. */
export function issuesIn(schema: z.ZodMiniType, input: unknown): string[] {
  const { error } = schema.safeParse(input);
  return issueDetails([{ root: 'body', error, input }]).map(({ path, message }) => `${path} ${message}`);
}

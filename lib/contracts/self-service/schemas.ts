import { plainText, Timestamp } from '@node-registry/registry-rules/schemas/fields';
import { isRunByPage } from '@node-registry/registry-rules/web-address';
import * as z from 'zod/mini';

/* What the contracts of self-service share. */

const uuid = z.string().check(z.regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/));
export const uuidAs = (description: string) => uuid.with(z.describe(description));
export const MemberId = z
  .string()
  .check(z.regex(/^[0-9a-f]{32}$/, 'must be the id of a member, 32 hexadecimal digits'))
  .with(z.describe('The id of a member, as `members` of the publisher has it'));

export const shortText = (maxLength: number) => plainText.check(z.minLength(1), z.maxLength(maxLength));
export const moment = (description: string) => Timestamp.with(z.describe(description));

/** A profile is public, and pages link to what it names. */
export const address = z.string().check(
  z.maxLength(2000),
  z.refine((text) => !isRunByPage(text), 'must not be a URL that runs code, such as javascript:'),
);

const UtcDay = z.string().check(
  z.regex(/^\d{4}-\d\d-\d\d$/),
  z.refine((day) => !Number.isNaN(Date.parse(day)), 'must be a day'),
);
export const period = z.object({
  from: z.optional(UtcDay).with(z.describe('The first UTC day; 30 days ago if absent')),
  to: z.optional(UtcDay).with(z.describe('The last UTC day; today if absent')),
});

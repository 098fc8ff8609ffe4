import * as z from 'zod/mini';

/** A point in time as RFC 3339 writes it. zod's own pattern also knows days of months, at the price of a kilobyte. */
export const Timestamp = z
  .string()
  .check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/))
  .with(z.meta({ format: 'date-time' }));

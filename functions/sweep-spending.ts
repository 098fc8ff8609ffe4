// Four schedules, each minute: each sets a part of the accounts right by the usage records
import { scheduledSweep } from '../lib/spend/sweep-spending.ts';

export const handler = scheduledSweep;

// Four schedules, each minute: each corrects a part of the accounts by the usage records
import { scheduledSweep } from '../lib/spend/sweep-spending.ts';

export const handler = scheduledSweep;

// Four schedules, each minute: each sets a part of the accounts right by the usage records
import { scheduledSweep } from '../lib/spend/scheduled-sweep.ts';

export const handler = scheduledSweep;

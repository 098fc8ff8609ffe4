// Four schedules, each minute: each ends what crashed requests have left open in a part of the accounts
import { scheduledVisit } from '../lib/attempts/visit.ts';

export const handler = scheduledVisit;

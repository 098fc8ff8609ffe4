// The queue's messages: ends what crashed requests have left open in an account
import { visitAccounts } from '../lib/attempts/visit.ts';

export const handler = visitAccounts;

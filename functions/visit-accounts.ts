// The queue's messages: ends what crashed requests have left open in an account
export { visitAccounts as handler } from '../lib/attempts/visit.ts';

import type { Context } from '../context.ts';
import { log } from '../log.ts';
import { firstDue } from '../store/due.ts';

const patienceMs = 60 * 60 * 1000;
const maxCounted = 100;

/** Counts the commands of the administration that have not ended for an hour. An alarm watches the number. */
export async function reportOpenCommands(context: Context): Promise<void> {
  const period = { from: 0, to: Date.now() - patienceMs };
  const open = await firstDue(context, { work: 'commands', period, order: 'oldest first' }, maxCounted);
  const counts = { sweep_findings: open.length, sweep_unvisited: 0 };
  if (open.length > 0) log('warn', 'sweep', { sweep: 'commands', ...counts });
}

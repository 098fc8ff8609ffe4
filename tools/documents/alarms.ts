import { type Alarm, alarmsOf } from '../../infra/template/alarms.ts';

/** A stage with everything, in which one function stands for all. */
const everything = {
  namespace: 'own',
  functions: [{ name: '<function>', route: 'POST /', timeoutSeconds: 29, hasReservation: true }],
  relays: true,
  bucketName: 'bucket',
  creditsPerHour: 0,
};

/** The table of docs/runbook.md: one line for each alarm, and one for those that say the same. */
export function alarmTable(): string {
  const lines = Map.groupBy(alarmsOf(everything), ({ meaning, look, action }) =>
    [meaning, look, action].join(' | '),
  );
  const rows = [...lines].map(([text, alarms]) => `| ${alarms.map(named).join(', ')} | ${text} |`);
  return ['| Alarm | Meaning | Look at | Action |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function named({ name }: Alarm): string {
  return `\`${name}\``;
}

/** The runbook with its table renewed. */
export function withAlarmTable(runbook: string): string {
  return runbook.replace(/^\| Alarm \|.*\n(?:\|.*\n)+/m, () => alarmTable());
}

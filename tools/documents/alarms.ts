import { alarmsOf, lineOf } from '../../infra/template/alarms.ts';

/** A stage with everything, in which one function stands for all. */
const everything = {
  namespace: 'own',
  functions: [{ name: '<function>', isRoute: true, slowMs: undefined, timeoutSeconds: 29, reserved: 1 }],
  relays: true,
  bucketName: 'bucket',
  creditsPerHour: 0,
};

/** The list of docs/runbook.md: one line for each alarm, and one for those that say the same. */
export function alarmList(): string {
  const lines = Map.groupBy(alarmsOf(everything), lineOf);
  return [...lines]
    .map(([line, alarms]) => `- ${alarms.map(({ name }) => `\`${name}\``).join(', ')}: ${line}\n`)
    .join('');
}

/** The runbook with its list renewed. */
export function withAlarmList(runbook: string): string {
  return runbook.replace(/^- `faults-.*\n(?:- .*\n)+/m, () => alarmList());
}

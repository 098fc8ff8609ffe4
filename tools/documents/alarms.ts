import { alarmsOf } from '../../infra/template/alarms.ts';

/** A stage with all features, and a function of each kind. */
const everything = {
  namespace: 'own',
  workers: ['one'],
  paid: { image: ['one'], video: ['one'] },
  values: { notifications: 'relay' },
};

/** The table in docs/runbook.md: one row for each alarm; alarms with the same text share one. */
export function alarmTable(): string {
  const rows = Map.groupBy(alarmsOf(everything), ({ text }) => text);
  return [...rows.values()]
    .map((alarms) => {
      const names = alarms.map(({ name, level }) => (level === 'wake' ? `**\`${name}\`**` : `\`${name}\``));
      const [says, broken] = alarms[0]?.text.split(/ Until then: (.*)\./) ?? [];
      return `| ${names.join(', ')} | ${says} | ${broken} |\n`;
    })
    .join('');
}

/** The runbook with a new table. */
export function withAlarmTable(runbook: string): string {
  return runbook.replace(/^\| \*\*`stage-down.*\n(?:\|.*\n)*/m, () => alarmTable());
}

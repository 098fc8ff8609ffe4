import { alarmsOf } from '../../infra/template/alarms.ts';

const anyFunction = {
  name: '<function>',
  isRoute: true,
  isPaid: true,
  slowMs: undefined,
  timeoutSeconds: 29,
};

/** A stage with all features, in which one name represents all functions. */
const everything = {
  namespace: 'own',
  functions: [undefined, 1].map((reserved) => ({ ...anyFunction, reserved })),
  relays: true,
  servesDownloads: true,
  countsDownloads: true,
  bucketName: 'bucket',
  creditsPerHour: 0,
  gigabytesPerHour: 0,
};

/** The list in docs/runbook.md: one line for each alarm; alarms with the same text share one. */
export function alarmList(): string {
  const lines = Map.groupBy(alarmsOf(everything), ({ text }) => text);
  return [...lines]
    .map(([line, alarms]) => {
      const names = new Set(alarms.map(({ name }) => `\`${name}\``));
      return `- ${[...names].join(', ')}: ${line}\n`;
    })
    .join('');
}

/** The runbook with a new list. */
export function withAlarmList(runbook: string): string {
  return runbook.replace(/^- `faults-.*\n(?:- .*\n)+/m, () => alarmList());
}

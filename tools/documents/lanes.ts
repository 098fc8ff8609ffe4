import { type Lane, lanes } from '../../lib/work/lanes.ts';

/** The table in docs/CONTRIBUTING.md: one row for each lane. */
export function laneTable(): string {
  const rows = Object.entries<Lane>(lanes).map(
    ([name, { function: its, item, waitSeconds, givenUp, without }]) =>
      `| ${name} | \`${its}\` | ${item} | ${waitSeconds.length > 0 ? waitSeconds.length + 1 : 'not counted'} | ${givenUp} | ${without} |\n`,
  );
  return `| Lane | Function | Owed by | Tries | Then | Without it |\n|---|---|---|---|---|---|\n${rows.join('')}`;
}

/** The document with a new table. */
export function withLaneTable(contributing: string): string {
  return contributing.replace(/^\| Lane \|.*\n(?:\|.*\n)+/m, () => laneTable());
}

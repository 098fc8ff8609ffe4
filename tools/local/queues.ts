import { laneNames, lanes } from '../../lib/work/lanes.ts';

/** A stage's queues, with their visibility timeouts in seconds, as in infra/template/index.yml and lane-queues.ts. */
export const queues: Record<string, number> = {
  indexChanges: 360,
  ...Object.fromEntries(laneNames.map((lane) => [lane, lanes[lane].leaseSeconds])),
};

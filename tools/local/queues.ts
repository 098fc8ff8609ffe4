import { type LaneName, laneNames, lanes } from '../../lib/work/lanes.ts';

/** A stage's queues, as in infra/template/index.yml and lane-queues.ts. */
export const queues = {
  indexChanges: {
    visibilitySeconds: 360,
    deadLetter: { queue: 'index-failures', maxReceiveCount: 10 },
  },
  'index-failures': { visibilitySeconds: 30 },
  ...(Object.fromEntries(
    laneNames.map((lane) => [lane, { visibilitySeconds: lanes[lane].leaseSeconds }]),
  ) as Record<LaneName, { visibilitySeconds: number }>),
} as const;

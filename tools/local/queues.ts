import { lanes } from '../../lib/work/lanes.ts';

/** A stage's queues, as in the templates: infra/template/index.yml and work.yml. */
export const queues = {
  indexChanges: {
    visibilitySeconds: 360,
    deadLetter: { queue: 'index-failures', maxReceiveCount: 10 },
  },
  'index-failures': { visibilitySeconds: 30 },
  finalize: { visibilitySeconds: lanes.finalize.leaseSeconds },
  deliver: { visibilitySeconds: lanes.deliver.leaseSeconds },
  poll: { visibilitySeconds: lanes.poll.leaseSeconds },
  extract: { visibilitySeconds: lanes.extract.leaseSeconds },
  visit: { visibilitySeconds: lanes.visit.leaseSeconds },
  align: { visibilitySeconds: lanes.align.leaseSeconds },
} as const;

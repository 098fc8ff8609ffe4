import { lanes } from '../../lib/work/lanes.ts';

/** A stage's queues, as in the templates: infra/template/extractions.yml, index.yml and work.yml. */
export const queues = {
  extractions: {
    visibilitySeconds: 720,
    delaySeconds: 3,
    deadLetter: { queue: 'extractions-failures', maxReceiveCount: 5 },
  },
  'extractions-failures': { visibilitySeconds: 30 },
  indexChanges: {
    visibilitySeconds: 360,
    deadLetter: { queue: 'index-failures', maxReceiveCount: 10 },
  },
  'index-failures': { visibilitySeconds: 30 },
  deliver: { visibilitySeconds: lanes.deliver.leaseSeconds },
  poll: { visibilitySeconds: lanes.poll.leaseSeconds },
  visit: { visibilitySeconds: lanes.visit.leaseSeconds },
} as const;

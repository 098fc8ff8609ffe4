/** A stage's queues, as in the templates: infra/template/extractions.yml, index.yml and notifications.yml. */
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
  notifications: {
    visibilitySeconds: 180,
    deadLetter: { queue: 'notifications-failures', maxReceiveCount: 5 },
  },
  'notifications-failures': { visibilitySeconds: 30 },
} as const;

import { type Lane, lanes } from '../../lib/work/lanes.ts';
import type { Resource } from '../plugins/framework.ts';
import { upperFirst } from './alarm-resources.ts';

/**
 * A standard queue for each lane; message groups make it fair. The work itself is stored in the table, so these queues need
 * no dead-letter queue, and a lost message is sent again.
 */
export function laneQueues(prefix: string): Record<string, Resource> {
  const queues = Object.entries<Lane>(lanes).map(([lane, { leaseSeconds }]) => {
    const Properties = {
      QueueName: `${prefix}-${lane}`,
      VisibilityTimeout: leaseSeconds,
      MessageRetentionPeriod: 3600,
    };
    return [`${upperFirst(lane)}Queue`, { Type: 'AWS::SQS::Queue', Properties }] as const;
  });
  return Object.fromEntries(queues);
}

import * as z from 'zod/mini';
import type { Contract } from '../../lib/contract.ts';
import { RelightReply } from '../../lib/contracts/relight-image.ts';
import { CreationsReply } from '../../lib/schemas/task-results.ts';

const common = {
  method: 'GET',
  summary: 'Ask for the result of a task',
  description:
    'Added by this service, with `resultRoutes=on` and `notifications=relay`, which are the defaults: the path at which clients of the provider wait for a task. It answers what the provider has told, and calls no provider. It needs the access token of the task’s buyer, and has a response for 14 days.',
  access: 'user',
  parameters: z.object({ task_id: z.string().with(z.describe('The `task_id` of the paid response')) }),
  status: 200,
  errors: ['task_not_found'],
} as const;

/** Not operations of the interface: one function answers both, at the paths of the providers. */
export const resultContracts: readonly Contract[] = [
  {
    ...common,
    name: 'relightResult',
    path: '/proxy/image-provider/v1/ai/image-relight/{task_id}',
    reply: RelightReply,
  },
  {
    ...common,
    name: 'taskCreations',
    path: '/proxy/video-provider/tasks/{task_id}/creations',
    reply: CreationsReply,
  },
];

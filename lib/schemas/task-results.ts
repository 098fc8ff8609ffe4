import * as z from 'zod/mini';
import { TaskState } from './video.ts';

export const CreationsReply = z
  .object({
    id: z.string().with(z.describe('The id of the task')),
    state: TaskState,
    err_code: z.string().with(z.describe('Why the task failed, as the provider says it; otherwise empty')),
    creations: z
      .array(
        z.object({
          id: z.string().with(z.describe('Names the film in a request to extend it')),
          url: z.string().with(z.describe('Where the film is downloaded')),
          cover_url: z.string().with(z.describe('A picture of it; empty if the provider gave none')),
        }),
      )
      .with(z.describe('The films; empty before the task has succeeded')),
  })
  .with(z.meta({ id: 'CreationsReply' }));
export type CreationsReply = z.infer<typeof CreationsReply>;

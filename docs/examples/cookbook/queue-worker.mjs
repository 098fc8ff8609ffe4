// A worker of a queue that may deliver a job twice: the job is the order.
import { RegistryError } from '@node-registry/registry-client';
import { registry } from './registry.mjs';

/** Returns the film, or when to deliver the job again, or why never. */
export async function work({ id, prompt }) {
  try {
    const { media } = await registry.videos.fromText({ prompt }, { order: `job-${id}`, wait: true });
    return { done: media };
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    const isLate = error.code === 'order_expired';
    if (error.retryAfter !== undefined || (error.mayBeDone && !isLate))
      return { again: error.retryAfter ?? 60 };
    return { failed: error.message, task: error.taskId };
  }
}

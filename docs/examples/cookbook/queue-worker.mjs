// A worker of a queue that may deliver a job twice: the job is the order.
import { RegistryError } from '@node-registry/registry-client';
import { registry } from './registry.mjs';

/** All else passes: an outage, a busy provider, a token that has expired. */
const hopeless = ['invalid_request', 'provider_rejected', 'task_failed', 'idempotency_mismatch'];

/** Returns the film, or when to deliver the job again, or why never. */
export async function work({ id, prompt }) {
  try {
    const { media } = await registry.videos.fromText({ prompt }, { order: `job-${id}`, wait: true });
    return { done: media };
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    const { code, message, mayBeDone, retryAfter = 60, taskId } = error;
    const isOver = code === 'order_expired' || (hopeless.includes(code) && !mayBeDone);
    return isOver ? { failed: message, task: taskId } : { again: retryAfter };
  }
}

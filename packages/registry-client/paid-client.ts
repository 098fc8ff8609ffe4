import { Orders } from './orders.ts';
import { paidCalls } from './paid.ts';
import { type ClientOptions, clientSettings } from './settings.ts';
import { type WaitOptions, waitForTask } from './tasks.ts';

const task = { task_id: 'string' } as const;

export type PaidClient = ReturnType<typeof createPaidClient>;

/** The part of a client that starts tasks and waits for them: small, for pages. */
export function createPaidClient(options: ClientOptions) {
  const paid = paidCalls(clientSettings(options), options.fetch, new Orders(options.orders));
  return {
    images: {
      relight: paid<'relightImage'>('/proxy/image-provider/v1/ai/image-relight', { data: 'object' }),
    },

    videos: {
      fromText: paid<'textToVideo'>('/proxy/video-provider/text2video', task),
      extend: paid<'extendVideo'>('/proxy/video-provider/extend', task),
      multiframe: paid<'multiframeVideo'>('/proxy/video-provider/multiframe', task),
    },

    tasks: {
      /** Waits for a task again, for example after a reload, by the `statusUrl` that `onState` received. */
      wait: (statusUrl: string, given: WaitOptions = {}) =>
        waitForTask(statusUrl, { ...given, fetch: given.fetch ?? options.fetch }),
    },
  };
}

import { afterAll, beforeEach } from '@jest/globals';
import type { Misbehavior } from '../../tools/simulators/misbehaviors.ts';
import { startSimulators } from '../../tools/simulators/start-simulators.ts';

/** The four proxies, with providers that are simulated on a port of this test file only. */
const simulators = await startSimulators({
  keys: { image: String(process.env.IMAGE_PROVIDER_KEY), video: String(process.env.VIDEO_PROVIDER_KEY) },
  tickMs: 5,
});
process.env.IMAGE_PROVIDER_URL = `${simulators.url}/image`;
process.env.VIDEO_PROVIDER_URL = `${simulators.url}/video`;

export const { simulation } = simulators;

export const proxies = {
  'relight-image': (await import('../../functions/relight-image.ts')).handler,
  'text-to-video': (await import('../../functions/text-to-video.ts')).handler,
  'extend-video': (await import('../../functions/extend-video.ts')).handler,
  'multiframe-video': (await import('../../functions/multiframe-video.ts')).handler,
} as const;

export type ProxyName = keyof typeof proxies;
export const proxyNames = Object.keys(proxies) as ProxyName[];

export function misbehave(misbehavior: Misbehavior): void {
  simulation.misbehave(misbehavior);
}

/** The number of tasks that were started, and paid for, since the test began. */
export function acceptedTasks(): number {
  return simulation.received.filter(({ taskId }) => taskId !== undefined).length;
}

beforeEach(() => simulation.reset());

afterAll(() => simulators.stop());

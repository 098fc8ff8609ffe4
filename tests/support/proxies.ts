import { beforeEach, jest } from '@jest/globals';
import type { Misbehavior } from '../../tools/simulators/misbehaviors.ts';
import { startSimulators } from '../../tools/simulators/start-simulators.ts';
import type { Handler } from './invoke.ts';
import { stopTimers } from '@node-registry/testing/clock';
import { until } from '@node-registry/testing/until';
import { proxyNames } from './operation-names.ts';
import './patience.ts';
import { untilEnd } from './serve.ts';
import { setVariables } from './variables.ts';

/** The proxies, with providers that are simulated on a port of this test file only. */
const keys = { image: String(process.env.IMAGE_PROVIDER_KEY), video: String(process.env.VIDEO_PROVIDER_KEY) };
const simulators = untilEnd(await startSimulators({ keys, tickMs: 5, hasEveryFilm: true }));
setVariables({
  IMAGE_PROVIDER_URL: `${simulators.url}/image`,
  VIDEO_PROVIDER_URL: `${simulators.url}/video`,
});

export const { simulation } = simulators;

export { proxyNames };
export type ProxyName = string;

const handlers = proxyNames.map(
  async (name): Promise<[ProxyName, Handler]> => [name, (await import(`../../functions/${name}.ts`)).handler],
);
export const proxies: Record<ProxyName, Handler> = Object.fromEntries(await Promise.all(handlers));

export function misbehave(misbehavior: Misbehavior): void {
  simulation.misbehave(misbehavior);
}

/** The number of tasks that were started, and paid for, since the test began. */
export function acceptedTasks(): number {
  return simulation.received.filter(({ taskId }) => taskId !== undefined).length;
}

/** Lets the deadline of work come as soon as a provider, which stays silent, was asked, and nothing else is to happen. */
export async function outwaitProvider<T>(work: () => Promise<T>, isRest = () => true): Promise<T> {
  stopTimers();
  const before = simulation.received.length;
  const result = work();
  await until(() => simulation.received.length > before && isRest());
  jest.advanceTimersByTime(25_000);
  return result;
}

beforeEach(() => simulation.reset());

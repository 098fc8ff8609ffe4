import { setTimeout as pause } from 'node:timers/promises';
import { afterEach } from '@jest/globals';

const waits = new Set<() => unknown>();

afterEach(() => {
  const [inVain] = waits;
  waits.clear();
  if (inVain) throw new Error(`This never became true: ${inVain}`);
});

/** Waits for another process, socket or timer, until the test's time limit. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  waits.add(isSo);
  while (waits.has(isSo) && !(await isSo())) await pause(10);
  waits.delete(isSo);
}

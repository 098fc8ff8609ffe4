import { setTimeout as pause } from 'node:timers/promises';
import { afterEach } from '@jest/globals';

const waits = new Set<() => unknown>();

afterEach(() => {
  const [inVain] = waits;
  waits.clear();
  if (inVain) throw new Error(`This never became true: ${inVain}`);
});

/** Waits for what another process, socket or timer does, until the test's limit ends. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  waits.add(isSo);
  while (waits.has(isSo) && !(await isSo())) await pause(10);
  waits.delete(isSo);
}

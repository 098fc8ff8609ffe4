import { setTimeout as pause } from 'node:timers/promises';

/** Waits for what another process, socket or timer does, however long that takes: Jest's limit ends a wait in vain. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(10);
}

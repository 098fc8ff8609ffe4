import { AsyncLocalStorage } from 'node:async_hooks';

const later = new AsyncLocalStorage<number>();

/** Moves the clock of this process, so that a recorded table is as old as it was when it was recorded. */
export function moveClock(byMs: number): void {
  const RealDate = Date;
  class MovedDate extends RealDate {
    constructor(...values: unknown[]) {
      super(...((values.length === 0 ? [MovedDate.now()] : values) as [number]));
    }
    static override now(): number {
      return RealDate.now() + byMs + (later.getStore() ?? 0);
    }
  }
  globalThis.Date = MovedDate as DateConstructor;
}

/** Runs work as if so much more time had passed, in a process whose clock was moved. */
export function runLater<Result>(ms: number, work: () => Result): Result {
  return later.run(ms, work);
}

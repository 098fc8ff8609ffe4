import { afterEach, jest } from '@jest/globals';

const loop = [
  'nextTick',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'performance',
  'hrtime',
] as const;
const timers = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;
const dayMs = 86_400_000;

afterEach(() => {
  jest.useRealTimers();
});

/** Until the test ends, only the date stands still: no minute or day ends during the test. */
export function stopDate(now = Date.now()): void {
  jest.useFakeTimers({ now, doNotFake: [...loop, ...timers] });
}

export function noon(): number {
  return Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2;
}

/** Starts the test at noon: the date continues, and no day ends. */
export function startAtNoon(): void {
  jest.useFakeTimers({ now: noon(), doNotFake: [...loop, ...timers], advanceTimers: 1 });
}

/** Until the test ends, dates and timers stand still unless the test advances them; the network continues. */
export function stopTimers(now = Date.now()): void {
  jest.useFakeTimers({ now, doNotFake: [...loop, 'setInterval', 'clearInterval'] });
}

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

/** Until the test ends, only the date stands still: no minute and no day ends in the middle of it. */
export function stopDate(now = Date.now()): void {
  jest.useFakeTimers({ now, doNotFake: [...loop, ...timers] });
}

export function noon(): number {
  return Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2;
}

/** Until the test ends, it is noon and later: the date goes on, and no day ends. */
export function startAtNoon(): void {
  jest.useFakeTimers({ now: noon(), doNotFake: [...loop, ...timers], advanceTimers: 1 });
}

/** Until the test ends, dates and timers stand still unless it advances them, and the network goes on. */
export function stopTimers(now = Date.now()): void {
  jest.useFakeTimers({ now, doNotFake: [...loop, 'setInterval', 'clearInterval'] });
}

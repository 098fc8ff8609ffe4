/*
 * The tests of a file that imports this are steps of one story, and run in their order. Jest shuffles all files or none, and
 * has no other way to leave one out.
 */
const symbol = Object.getOwnPropertySymbols(globalThis).find(
  ({ description }) => description === 'JEST_STATE_SYMBOL',
);
const state: unknown = symbol && Reflect.get(globalThis, symbol);
if (typeof state !== 'object' || state === null || !('randomize' in state))
  throw new Error('Jest has changed how it shuffles the tests of a file.');
state.randomize = false;

export {};

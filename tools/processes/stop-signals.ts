/** npm forwards a Ctrl-C to a process that also got it from the terminal. */
const echoMs = 500;

/** Calls `stop` at Ctrl-C or SIGTERM. If that takes too long, the next one ends the process at once. */
export function onStopSignal(stop: () => void): void {
  let first: number | undefined;
  const onSignal = () => {
    if (first === undefined) {
      first = performance.now();
      stop();
    } else if (performance.now() - first > echoMs) {
      process.exit(130);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, onSignal);
}

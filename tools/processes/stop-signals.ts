/** npm passes a Ctrl-C on to a process that the terminal has sent it to as well. */
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

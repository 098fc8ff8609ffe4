interface Running {
  until: number;
  giveUp: () => void;
}

/** One clock looks after all running requests: a timer for each would take longer than parsing the request. */
const running = new Set<Running>();
const lookEveryMs = 100;

setInterval(() => {
  const now = Date.now();
  for (const one of running) {
    if (one.until > now) continue;
    running.delete(one);
    one.giveUp();
  }
}, lookEveryMs).unref();

/** What comes of `work`, or the error of `late` soon after `until` (milliseconds since the epoch). */
export function inTime<Result>(work: Promise<Result>, until: number, late: () => Error): Promise<Result> {
  return new Promise((resolve, reject) => {
    const one = { until, giveUp: () => reject(late()) };
    running.add(one);
    work.then(
      (result) => {
        running.delete(one);
        resolve(result);
      },
      (error) => {
        running.delete(one);
        reject(error);
      },
    );
  });
}

/** Resolves with `work`, or rejects with `late()` soon after `until` (milliseconds since the epoch). */
export function inTime<Result>(work: Promise<Result>, until: number, late: () => Error): Promise<Result> {
  // Written out: with Promise.race and finally it takes twice the time, for each request.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), Math.max(0, until - Date.now()));
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** What comes of `work`, or the error of `late` soon after `until` (milliseconds since the epoch). */
export async function inTime<Result>(
  work: Promise<Result>,
  until: number,
  late: () => Error,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), Math.max(0, until - Date.now()));
  });
  try {
    return await Promise.race([work, lateness]);
  } finally {
    clearTimeout(timer);
  }
}

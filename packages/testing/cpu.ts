/** The CPU time of this thread for some work, in milliseconds, unaffected by the machine's other load. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const began = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1000;
}

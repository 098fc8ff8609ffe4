/** The time that this thread computes for some work, in milliseconds: what else the machine does takes none of it. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const began = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1000;
}

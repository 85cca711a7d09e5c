/**
 * How long this process has computed since then, in milliseconds: where that is bounded a machine that stalls, or has others to serve, changes nothing.
 * @param since of `process.cpuUsage()`
 */
export function processorMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

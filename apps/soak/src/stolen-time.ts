import { readFile } from 'node:fs/promises';

/** Jiffies of all processors since the machine started. */
interface ProcessorTime {
  readonly total: number;
  /** What the host of a virtual machine gave to others while this one had something to do. */
  readonly stolen: number;
}

/**
 * Tells, each time that it is called, what share of the processors' time since the call before the machine's host took away; null where the machine
 * doesn't tell (no Linux).
 */
export async function watchStolenTime(path = '/proc/stat'): Promise<() => Promise<number | null>> {
  let before = await readTime(path);
  return async () => {
    const now = await readTime(path);
    const share =
      before === null || now === null ? null : (now.stolen - before.stolen) / (now.total - before.total || 1);
    before = now;
    return share;
  };
}

async function readTime(path: string): Promise<ProcessorTime | null> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  // user, nice, system, idle, iowait, irq, softirq, steal; what follows is counted in user already (proc(5)).
  const times = /^cpu +([\d ]+)$/m.exec(text)?.[1]?.split(' ').map(Number).slice(0, 8);
  if (times?.length !== 8) return null;
  return { total: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 };
}

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { commandLineOf, descendantsOf, readOfProcess } from '@chainstead/testkit';

/** A process and those that it started, as far as they are Node. Linux only. */
export function nodeProcesses(pid: number): number[] {
  return [pid, ...descendantsOf(pid)].filter(
    (one) => basename(commandLineOf(one)?.split(' ')[0] ?? '') === 'node',
  );
}

/** Memory of processes together: what several of them share counts once. Bytes. */
export function sharedMemory(pids: readonly number[]): number {
  const kilobytes = pids.map((pid) => {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1]);
  });
  return sum(kilobytes) * 1_024;
}

/** Linux counts the time of processes in these. */
const TICKS_PER_SECOND = 100;
/** Fields of /proc/<pid>/stat behind the name: own time in the program and the kernel, then that of ended children. */
const TIMES = [11, 15] as const;

/** Processor time of processes and their ended children so far. Seconds. */
export function processorSeconds(pids: readonly number[]): number {
  const ticks = pids.flatMap((pid) => {
    const text = readOfProcess(`/proc/${pid}/stat`);
    // One that ended meanwhile counts with its parent.
    if (text === null) return [];
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(...TIMES)
      .map(Number);
  });
  return sum(ticks) / TICKS_PER_SECOND;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { BenchmarkError } from './benchmark-error.ts';

export interface ProcessPlan {
  /** Default: the Node that runs this program. */
  readonly command?: string;
  readonly args: readonly string[];
  /** In addition to this process' own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Resident memory at one moment. */
export interface MemorySample {
  /** Since the process was started. */
  readonly ms: number;
  readonly bytes: number;
}

/** A process under measurement. Ends with this one. */
export interface MeasuredProcess {
  readonly pid: number;
  /** Milliseconds since it was started. */
  elapsedMs(): number;
  /** Resident memory so far, a few samples a second; empty where the machine has no `/proc`. */
  readonly memory: readonly MemorySample[];
  /** CPU time so far of it and of the processes that it started, in seconds; 0 where the machine has no `/proc`. */
  cpuSeconds(): number;
  /** The first line of output for which `read` gives a value. @throws BenchmarkError when the process ends before. */
  line<T>(read: (line: string) => T | undefined): Promise<T>;
  /** Called with each line of output from now on. */
  onLine(listener: (line: string) => void): void;
  /** Waits for its end. @throws BenchmarkError when it fails */
  finished(): Promise<void>;
  stop(): Promise<void>;
}

const SAMPLE_MS = 100;
/** `USER_HZ`, the unit of `/proc/…/stat`. */
const TICKS_PER_SECOND = 100;
/** Longer than the program gives itself: killed before, it would leave the processes that it has started. */
const STOP_PATIENCE_MS = 20_000;
/** How long to wait for the last output. Other holders of the output, such as a process left behind, are not waited for. */
const LAST_WORDS_MS = 500;
const OUTPUT_KEPT_LINES = 30;

/** Starts a process as planned. */
export function startProcess(plan: ProcessPlan): MeasuredProcess {
  const startedAt = performance.now();
  const child = spawn(plan.command ?? process.execPath, plan.args, {
    env: { ...process.env, ...plan.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(plan.cwd === undefined ? {} : { cwd: plan.cwd }),
  });
  const exited = untilExit(child);
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const listeners = new Set<(line: string) => void>();
  const kept: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => {
      kept.push(line);
      if (kept.length > OUTPUT_KEPT_LINES) kept.shift();
      for (const listener of listeners) listener(line);
    });
  const { memory, cpuSeconds } = sampleResources(child, startedAt);
  const ended = exited.then((code) => {
    process.off('exit', killAtExit);
    return code;
  });
  const failure = (code: number | null): BenchmarkError =>
    new BenchmarkError(`${plan.args.join(' ')} ended with exit code ${code}:\n${kept.join('\n')}`);
  return {
    pid: child.pid ?? 0,
    elapsedMs: () => performance.now() - startedAt,
    memory,
    cpuSeconds,
    onLine: (listener) => void listeners.add(listener),
    line: (read) =>
      new Promise((resolve, reject) => {
        // It may have been written before the listener was added.
        for (const line of kept) {
          const found = read(line);
          if (found !== undefined) return resolve(found);
        }
        const listener = (line: string): void => {
          const found = read(line);
          if (found === undefined) return;
          listeners.delete(listener);
          resolve(found);
        };
        listeners.add(listener);
        void ended.then((code) => reject(failure(code)));
      }),
    async finished() {
      const code = await ended;
      if (code !== 0) throw failure(code);
    },
    async stop() {
      child.kill('SIGTERM');
      const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS);
      await ended;
      clearTimeout(impatience);
    },
  };
}

/** Its output is closed then: an open pipe would keep this process from ending. @returns its exit code; null after a signal */
async function untilExit(child: ChildProcess): Promise<number | null> {
  const closed = once(child, 'close');
  const [code] = await once(child, 'exit');
  const enough = setTimeout(() => {
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  }, LAST_WORDS_MS);
  await closed;
  clearTimeout(enough);
  return code;
}

function sampleResources(child: ChildProcess, startedAt: number): Pick<MeasuredProcess, 'memory' | 'cpuSeconds'> {
  const memory: MemorySample[] = [];
  let cpuSeconds = 0;
  const timer = setInterval(() => {
    const now = resourcesOf(child.pid);
    if (now === null) return;
    memory.push({ ms: performance.now() - startedAt, bytes: now.largestBytes });
    cpuSeconds = Math.max(cpuSeconds, now.cpuTicks / TICKS_PER_SECOND);
  }, SAMPLE_MS);
  child.once('exit', () => clearInterval(timer));
  return { memory, cpuSeconds: () => cpuSeconds };
}

interface Resources {
  readonly largestBytes: number;
  /** With that of its ended children. */
  readonly cpuTicks: number;
}

/** Counts a process and those it started: the program hands over to one with a sized heap. */
function resourcesOf(pid: number | undefined): Resources | null {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    if (kilobytes === undefined) return null;
    const times = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ').slice(11, 15) ?? [];
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    const others = children.map((child) => resourcesOf(Number(child))).filter((other) => other !== null);
    return {
      largestBytes: Math.max(Number(kilobytes) * 1_024, ...others.map(({ largestBytes }) => largestBytes)),
      cpuTicks: [...times.map(Number), ...others.map(({ cpuTicks }) => cpuTicks)].reduce(
        (sum, one) => sum + one,
        0,
      ),
    };
  } catch (error) {
    // The process has just ended, or this is no Linux.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return null;
    throw error;
  }
}

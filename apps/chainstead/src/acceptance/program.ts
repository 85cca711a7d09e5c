/** The real program as a child process: `chainstead start`, on a port of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { programToStart } from '../testing/bundled-program.ts';

export interface Program {
  readonly pid: number;
  /** `http://127.0.0.1:<port>` once it serves; rejects when it ends before. */
  readonly url: Promise<string>;
  /** Asks it to stop by SIGTERM. @returns its exit code and how long it took, without the time in which the machine stood still. */
  stop(): Promise<{ readonly code: number | null; readonly milliseconds: number }>;
  /** SIGKILL to it and to all of its role processes. */
  kill(): Promise<void>;
  /** SIGSTOP to all of its processes: they fall silent, with their connections open. Until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** What it wrote, newest last. */
  output(): string;
}

const OUTPUT_CHARACTERS_MAX = 50_000;

/** @param roles Default: all. */
export function startProgram(environment: Readonly<Record<string, string>>, roles?: string): Program {
  let output = '';
  const program = programToStart();
  const child: ChildProcess = spawn(
    process.execPath,
    [program.entry, 'start', ...(roles === undefined ? [] : ['--roles', roles])],
    // A process group of its own, so that SIGKILL takes the roles too.
    {
      env: { PATH: process.env.PATH, ...program.environment, ...environment },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const url = Promise.withResolvers<string>();
  // Not every test waits for it.
  url.promise.catch(() => undefined);
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-OUTPUT_CHARACTERS_MAX);
    const found = /API +(http:\/\/[^/\s]+)\/api/.exec(output)?.[1];
    if (found !== undefined) url.resolve(found);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      url.reject(new Error(`The program ended with ${code}:\n${output}`));
      resolve(code);
    });
  });
  return {
    pid: child.pid ?? 0,
    url: url.promise,
    async stop() {
      const passed = countRunningTime();
      child.kill('SIGTERM');
      return { code: await exited, milliseconds: passed() };
    },
    async kill() {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        signalGroup(child.pid, 'SIGKILL');
      await exited;
    },
    freeze() {
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGSTOP');
    },
    thaw() {
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGCONT');
    },
    output: () => output,
  };
}

const LOOK_MS = 50;
/** A look that comes later tells of a machine that stood still. */
const LATE_MS = 4 * LOOK_MS;

/** @returns what ends it, and gives the milliseconds through which this machine ran */
function countRunningTime(): () => number {
  let ran = 0;
  let last = performance.now();
  const look = (): void => {
    const now = performance.now();
    ran += Math.min(now - last, LATE_MS);
    last = now;
  };
  const looking = setInterval(look, LOOK_MS);
  return () => {
    clearInterval(looking);
    look();
    return ran;
  };
}

function signalGroup(pid: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** The program in separate processes, as a user starts it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Disposing of it kills all of its processes. */
export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** Address of the API, `http://127.0.0.1:<port>`, once the program serves it. Rejects if the program ends before. */
  readonly url: Promise<string>;
  /** Exit code, or the signal that ended it. Resolves once all output is read. */
  readonly exited: Promise<number | string>;
  /** Everything written to both outputs so far. */
  output(): string;
  /** Returns the first match, once it is written. @throws Error if the process ends before */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a signal to the first process alone. Its role processes get none. */
  signal(name: NodeJS.Signals): void;
  /** Stops it by SIGTERM. Returns its exit code and the time it took, without the time in which the machine stood still. */
  stop(): Promise<{ readonly code: number | string; readonly milliseconds: number }>;
  /** Sends SIGKILL to all of its processes, and waits until they are gone. Safe to call twice. */
  kill(): Promise<void>;
  /** Sends SIGSTOP to all of its processes: they fall silent and keep their connections open, until `thaw`. */
  freeze(): void;
  thaw(): void;
}

export interface ProgramOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: the Node that runs the test. */
  readonly node?: string;
  /** Default: the program of this tree, bundled. */
  readonly entry?: string;
}

const SOURCES = fileURLToPath(new URL('../../../../apps/chainstead/bin/chainstead.js', import.meta.url));
const FIND_BUNDLE = fileURLToPath(new URL('../../../../scripts/find-bundle.js', import.meta.url));
const FOLDER_VARIABLE = 'CHAINSTEAD_TEST_PROGRAM';

/** @param args of the command line, such as `['start', '--roles', 'ingest']` */
export function startProgram(args: readonly string[], options: ProgramOptions = {}): Program {
  const { PATH, HOME, TMPDIR } = process.env;
  const { entry, environment } = programToStart();
  const child: ChildProcess = spawn(options.node ?? process.execPath, [options.entry ?? entry, ...args], {
    // A developer's `.env` is not for tests.
    env: { PATH, HOME, TMPDIR, LOG_LEVEL: 'info', CHAINSTEAD_CONFIG: '', ...environment, ...options.environment },
    // A separate process group, so that SIGKILL also reaches the role processes.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const listener of listeners) listener();
    });
  let isGone = false;
  const exited = new Promise<number | string>((resolve) => {
    child.on('close', (code, signal) => {
      isGone = true;
      resolve(code ?? signal ?? 'unknown');
    });
  });
  const signalAll = (name: NodeJS.Signals): void => {
    if (child.pid !== undefined && !isGone) signalGroup(child.pid, name);
  };
  const waitFor = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(output);
        if (match === null) return;
        listeners.delete(look);
        resolve(match);
      };
      listeners.add(look);
      void exited.then((code) => reject(new Error(`Ended (${code}) without writing ${pattern}:\n${output}`)));
      look();
    });
  const url = waitFor(/API +(http:\/\/[^/\s]+)\/api/).then(([, address = '']) => address);
  // A test that never reads the address is not failed by a program that serves none.
  url.catch(() => undefined);
  const kill = async (): Promise<void> => {
    signalAll('SIGKILL');
    await exited;
  };
  return {
    pid: child.pid ?? 0,
    url,
    exited,
    output: () => output,
    waitFor,
    signal: (name) => void child.kill(name),
    async stop() {
      const passed = countRunningTime();
      child.kill('SIGTERM');
      return { code: await exited, milliseconds: passed() };
    },
    kill,
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    [Symbol.asyncDispose]: kill,
  };
}

/** Returns the bundle of the program for tests, or outside of a test run the sources. */
export function programToStart(): {
  readonly entry: string;
  readonly environment: Readonly<Record<string, string>>;
} {
  if (process.env.VITEST === undefined) return { entry: SOURCES, environment: {} };
  // Set by `npm test`. A single file makes the bundle at its first start.
  process.env[FOLDER_VARIABLE] ??= execFileSync(process.execPath, [FIND_BUNDLE], { encoding: 'utf8' }).trim();
  const folder = process.env[FOLDER_VARIABLE];
  // The compile cache belongs to the bundle.
  return {
    entry: join(folder, 'bin/chainstead.js'),
    environment: { NODE_COMPILE_CACHE: join(folder, 'compile-cache') },
  };
}

const LOOK_MS = 50;
/** A look that comes later shows a machine that stood still. */
const LATE_MS = 4 * LOOK_MS;

/** Returns a function that ends the count and returns the milliseconds through which this machine ran. */
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

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Returns its children, their children, and so on. Linux only. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Returns the process ids of the direct children of a process, from /proc. */
function childrenOf(pid: number): number[] {
  return (readOfProcess(`/proc/${pid}/task/${pid}/children`) ?? '')
    .split(' ')
    .filter((word) => word !== '')
    .map(Number);
}

/** Returns the command line of a process, or null when it is gone. */
export function commandLineOf(pid: number): string | null {
  const text = readOfProcess(`/proc/${pid}/cmdline`);
  return text === null || text === '' ? null : text.replaceAll('\0', ' ');
}

/** Returns a file in /proc, or null when its process is gone. */
export function readOfProcess(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return null;
    throw error;
  }
}

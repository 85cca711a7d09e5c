import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { programToStart } from './bundled-program.ts';

/** The program in a process of its own, as a user starts it. For tests. */
export interface ProgramProcess {
  readonly pid: number;
  /** Everything written to both outputs so far. */
  output(): string;
  /** The first match, once it is written. @throws when the process ends before. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  readonly exited: Promise<number | string>;
  kill(signal: NodeJS.Signals): void;
}

export interface ProgramOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: the Node that runs the test. */
  readonly node?: string;
  /** Default: that of this tree, bundled. */
  readonly entry?: string;
}

export function startProgram(args: readonly string[], options: ProgramOptions = {}): ProgramProcess {
  const { PATH, HOME, TMPDIR } = process.env;
  const { entry, environment } = programToStart();
  const child: ChildProcess = spawn(options.node ?? process.execPath, [options.entry ?? entry, ...args], {
    env: { PATH, HOME, TMPDIR, LOG_LEVEL: 'info', ...environment, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const listener of listeners) listener();
    });
  const exited = new Promise<number | string>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  return {
    pid: child.pid ?? 0,
    output: () => output,
    waitFor: (pattern) =>
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
      }),
    exited,
    kill: (signal) => child.kill(signal),
  };
}

/** Its children, their children, and so on. Linux only. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Process ids of the direct children of a process, by /proc. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map(Number);
}

/** The command line of a process, or null when it is gone. */
export function commandLineOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return text === '' ? null : text.replaceAll('\0', ' ');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return null;
    throw error;
  }
}

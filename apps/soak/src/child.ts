import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { SoakError } from './soak-error.ts';

export interface ChildPlan {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A Node process in a session of its own: Ctrl-C in the terminal reaches the soak, which ends it. */
export interface Child {
  readonly pid: number;
  /** The first line of output for which `read` gives a value. @throws SoakError when the process ends before */
  line<T>(read: (line: string) => T | undefined): Promise<T>;
  onLine(listener: (line: string) => void): void;
  /** Whether it has ended without being asked to. */
  readonly ended: boolean;
  /** What it wrote last. */
  lastLines(): string;
  /** By SIGTERM, and what is left after a while by SIGKILL. Safe to call twice. */
  stop(): Promise<void>;
}

/** Longer than the program gives itself. */
const STOP_PATIENCE_MS = 25_000;
const KEPT_LINES = 30;

export function startChild({ args, env }: ChildPlan): Child {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });
  const exited = once(child, 'exit');
  const killAtExit = (): void => signalGroup(child, 'SIGKILL');
  process.once('exit', killAtExit);
  const kept: string[] = [];
  const listeners = new Set<(line: string) => void>();
  for (const stream of [child.stdout, child.stderr])
    if (stream !== null)
      createInterface(stream).on('line', (line) => {
        kept.push(line);
        if (kept.length > KEPT_LINES) kept.shift();
        for (const listener of listeners) listener(line);
      });
  let isStopping = false;
  const lastLines = (): string => kept.join('\n');
  return {
    pid: child.pid ?? 0,
    line: (read) =>
      new Promise((resolve, reject) => {
        const listener = (line: string): void => {
          const found = read(line);
          if (found === undefined) return;
          listeners.delete(listener);
          resolve(found);
        };
        for (const line of [...kept]) listener(line);
        listeners.add(listener);
        void exited.then(() => reject(childEnded(args, lastLines())));
      }),
    onLine: (listener) => void listeners.add(listener),
    get ended() {
      return !isStopping && (child.exitCode !== null || child.signalCode !== null);
    },
    lastLines,
    async stop() {
      isStopping = true;
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        const impatience = setTimeout(() => signalGroup(child, 'SIGKILL'), STOP_PATIENCE_MS);
        await exited;
        clearTimeout(impatience);
      }
      process.off('exit', killAtExit);
    },
  };
}

function childEnded(args: readonly string[], output: string): SoakError {
  return new SoakError(
    `A process of the soak ended by itself (${args.join(' ')}):\n${output}`,
    'Its last lines say why',
  );
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // All of the group are gone.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

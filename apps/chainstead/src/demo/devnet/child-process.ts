import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

export interface DependentProcess {
  readonly stdout: Readable;
  readonly errorOutput: string;
  readonly exitCode: number | null;
  stop(): Promise<void>;
}

/** The kernel closes the shell's input when the parent is gone, and the shell ends the program. */
const LEASH = `
"$0" "$@" </dev/null & child=$!
trap 'kill $child 2>/dev/null' TERM INT
( cat >/dev/null; kill $child 2>/dev/null ) <&3 & watcher=$!
wait $child; code=$?
kill $watcher 2>/dev/null
exit $code
`;

const ERROR_OUTPUT_BYTES = 8_192;

export function spawnDependent(program: string, args: readonly string[]): DependentProcess {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(
    'sh',
    ['-c', `exec 3<&0; ${LEASH}`, program, ...args],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  let errorOutput = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-ERROR_OUTPUT_BYTES);
  });
  return {
    stdout: child.stdout,
    get errorOutput() {
      return errorOutput;
    },
    get exitCode() {
      return child.exitCode;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    },
  };
}

/** Drops later lines: a full or closed pipe would stop the child. @throws errors of `onExit` */
export function firstLine<T>(
  child: DependentProcess,
  read: (line: string) => T | undefined,
  onExit: (errorOutput: string) => Error,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let rest = '';
  const onData = (text: string): void => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const found = read(line);
      if (found === undefined) continue;
      child.stdout.off('data', onData).resume();
      resolve(found);
      return;
    }
  };
  child.stdout.setEncoding('utf8').on('data', onData);
  child.stdout.once('close', () => reject(onExit(child.errorOutput)));
  return promise;
}

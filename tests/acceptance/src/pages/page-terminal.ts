import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** A terminal: commands that end keep its folder and its exported variables, as for a person who types them. */
export interface Terminal {
  /** The current folder. */
  folder(): string;
  /** @returns both outputs. @throws if the command ends otherwise than expected */
  run(code: string, expected?: 'works' | 'fails'): Promise<string>;
  /** Starts a command in another terminal, in the same folder. */
  start(code: string): StartedCommand;
}

export interface StartedCommand {
  output(): string;
  /** Returns the first match, once it is written. @throws if the command ends before */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Presses Ctrl-C, and waits for the end. Safe to call twice. */
  stop(): Promise<void>;
}

/** @param environment of a new shell. @param onOutput gets what commands write */
export function createTerminal(
  folder: string,
  environment: Readonly<Record<string, string>>,
  onOutput: (text: string) => void,
): Terminal {
  let current = folder;
  let exported: Readonly<Record<string, string>> = environment;
  const open = (code: string, env: Readonly<Record<string, string>>) => {
    // A separate process group, as a terminal makes: `npx` and `npm` start the program as a child.
    const shell: ChildProcess = spawn('bash', ['-ec', code], {
      cwd: current,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    let written = '';
    const listeners = new Set<() => void>();
    for (const stream of [shell.stdout, shell.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        written += chunk;
        onOutput(chunk);
        for (const listener of listeners) listener();
      });
    const ended = new Promise<number | null>((resolve) => shell.on('close', resolve));
    return { shell, ended, listeners, written: () => written };
  };
  return {
    folder: () => current,
    async run(code, expected = 'works') {
      const { shell, ended, written } = open(`trap 'pwd >&3; env -0 >&3' EXIT\n${code}`, exported);
      const [, , , left] = shell.stdio;
      const state = left instanceof Readable ? await text(left) : '';
      const exitCode = await ended;
      if ((exitCode === 0) !== (expected === 'works'))
        throw new Error(`${code}\nended with ${exitCode}:\n${written()}`);
      const lineEnd = state.indexOf('\n');
      current = state.slice(0, lineEnd);
      exported = Object.fromEntries(
        state
          .slice(lineEnd + 1)
          .split('\0')
          .filter((variable) => variable !== '')
          .map((variable) => [
            variable.slice(0, variable.indexOf('=')),
            variable.slice(variable.indexOf('=') + 1),
          ]),
      );
      return written();
    },
    start(code) {
      const { shell, ended, listeners, written } = open(code, environment);
      let isGone = false;
      void ended.then(() => (isGone = true));
      return {
        output: written,
        until: (pattern) =>
          new Promise((resolve, reject) => {
            const look = (): void => {
              const match = pattern.exec(written());
              if (match === null) return;
              listeners.delete(look);
              resolve(match);
            };
            listeners.add(look);
            void ended.then((exitCode) =>
              reject(new Error(`${code}\nended with ${exitCode} before ${pattern}:\n${written()}`)),
            );
            look();
          }),
        async stop() {
          if (shell.pid !== undefined && !isGone) process.kill(-shell.pid, 'SIGINT');
          await ended;
        },
      };
    },
  };
}

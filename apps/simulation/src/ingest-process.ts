/** The real program, or some of its roles, as a child process of its own process group, so that SIGKILL takes all of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface IngestProcess {
  /** Kills without warning, as a power cut would. */
  kill(): Promise<void>;
  /** What it wrote, newest last. */
  output(): string;
}

const ENTRY = fileURLToPath(new URL('../../chainstead/src/main.ts', import.meta.url));
const OUTPUT_CHARACTERS_MAX = 20_000;

/** As Docker does it, a program that ended since it could not reach its database at the start is started again; no other one. */
const COMES_BACK = /\[DATABASE_UNREACHABLE\]/;
const RESTARTS_MAX = 10;

/** @param roles As in `--roles`. */
export function startIngest(environment: Readonly<Record<string, string>>, roles = 'ingest'): IngestProcess {
  let output = '';
  let restarts = 0;
  let isKilled = false;
  let child = spawnIngest();
  let exited = whenExited(child);

  function spawnIngest(): ChildProcess {
    return spawn(process.execPath, [ENTRY, 'start', '--roles', roles], {
      env: { PATH: process.env.PATH, ...environment },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  function whenExited(started: ChildProcess): Promise<void> {
    let isUnreachable = false;
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-OUTPUT_CHARACTERS_MAX);
    };
    started.stdout?.on('data', keep);
    started.stderr?.on('data', (chunk: Buffer) => {
      isUnreachable ||= COMES_BACK.test(chunk.toString());
      keep(chunk);
    });
    return new Promise((resolve) => {
      // Only then its last words are read.
      started.once('close', (code, signal) => {
        output += `\n[exited with ${code ?? signal}]\n`;
        if (isUnreachable && !isKilled && restarts++ < RESTARTS_MAX) {
          child = spawnIngest();
          exited = whenExited(child);
        }
        resolve();
      });
    });
  }

  return {
    kill: async () => {
      isKilled = true;
      if (child.pid !== undefined && child.exitCode === null) {
        try {
          process.kill(-child.pid, 'SIGKILL');
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
        }
      }
      await exited;
    },
    output: () => output,
  };
}

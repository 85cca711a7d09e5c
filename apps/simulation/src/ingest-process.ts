/** The real program as a child process of its own process group, so that SIGKILL takes all of it. */
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

export function startIngest(environment: Readonly<Record<string, string>>): IngestProcess {
  let output = '';
  const child: ChildProcess = spawn(process.execPath, [ENTRY, 'start', '--roles', 'ingest'], {
    env: { PATH: process.env.PATH, ...environment },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-OUTPUT_CHARACTERS_MAX);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      output += `\n[exited with ${code ?? signal}]\n`;
      resolve();
    });
  });
  return {
    kill: async () => {
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

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { unlessMissing } from './unless-missing.ts';

/** What a running server writes into `postmaster.pid` in its cluster folder. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** `starting`, `stopping`, `ready` or `standby` */
  readonly status: string;
}

/** Reads the lock file. A file that is still being written, or left by a crash, may name a process that does not exist. */
export async function readPostmaster(clusterFolder: string): Promise<Postmaster | undefined> {
  const text = await unlessMissing(readFile(join(clusterFolder, 'postmaster.pid'), 'utf8'));
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  const pid = Math.abs(Number(lines[0]));
  const port = Number(lines[3]);
  if (!Number.isInteger(pid) || pid === 0 || !Number.isInteger(port)) return undefined;
  return { pid, port, status: (lines[7] ?? '').trim() };
}

/** Whether the process lives and is a Postgres: numbers are given out again after a crash or in a new container. */
export async function isPostgresProcess(pid: number): Promise<boolean> {
  if (!processLives(pid)) return false;
  try {
    const name =
      process.platform === 'linux'
        ? await readFile(`/proc/${pid}/comm`, 'utf8')
        : (await promisify(execFile)('ps', ['-p', String(pid), '-o', 'comm='])).stdout;
    return name.trim().endsWith('postgres');
  } catch {
    return false;
  }
}

/** Whether a process of this number exists, be it another user's. */
export function processLives(pid: number): boolean {
  // To signal -1 means every process, which always succeeds.
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Polls a condition on files or processes, which announce nothing. @returns false when the time ran out */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > end) return false;
    await delay(20);
  }
  return true;
}

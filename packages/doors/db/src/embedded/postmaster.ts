import { execFile } from 'node:child_process';
import { readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { unlessMissing } from './server-account.ts';

interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** `starting`, `stopping`, `ready` or `standby` */
  readonly status: string;
}

/** A half-written or stale file may have the pid of no process. */
export async function readPostmaster(clusterFolder: string): Promise<Postmaster | undefined> {
  const text = await unlessMissing(readFile(join(clusterFolder, 'postmaster.pid'), 'utf8'));
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  const pid = Math.abs(Number(lines[0]));
  const port = Number(lines[3]);
  if (!Number.isInteger(pid) || pid === 0 || !Number.isInteger(port)) return undefined;
  return { pid, port, status: (lines[7] ?? '').trim() };
}

/** Pids are reused after a crash or in a new container. */
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

/** Also for other users' processes. */
export function processLives(pid: number): boolean {
  // A signal to -1 goes to every process.
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Polls. @returns false after the timeout */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > end) return false;
    await delay(20);
  }
  return true;
}

const MEGABYTE = 1024 ** 2;
const MEGABYTES = { least: 1_024, most: 4_096 };
const SHARE_OF_FREE_DISK = 1 / 20;

/** Fewer checkpoints write less, but the WAL must not fill a small disk. */
export async function maxWalSize(folder: string): Promise<string> {
  const { bavail, bsize } = await statfs(folder);
  return `${walMegabytes(bavail * bsize)}MB`;
}

/** A twentieth of the free disk, from 1 GB (the default) to 4 GB. */
export function walMegabytes(freeBytes: number): number {
  const share = Math.floor((freeBytes * SHARE_OF_FREE_DISK) / MEGABYTE);
  return Math.min(MEGABYTES.most, Math.max(MEGABYTES.least, share));
}

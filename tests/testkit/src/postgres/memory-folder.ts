import { readdir, readFile, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm';
/** Bytes. Test runs write up to about 1 GB. Containers often have 64 MB. */
const ROOM = 4 * 1024 ** 3;
/** Bytes that stay for everything else. */
const SPARE = 4 * 1024 ** 3;
/** Milliseconds in which a server writes its process id. */
const START_MS = 600_000;

/**
 * The folder for data of test servers: in memory if there is room, otherwise that of temporary files. Each test database is a thousand
 * files. To create and remove them on a disk takes a third of a test run.
 * @param prefix of the folders that the caller makes there. Those of killed runs are removed
 */
export async function folderInMemory(prefix: string): Promise<string> {
  if ((await freeBytes(MEMORY)) < ROOM || process.availableMemory() < ROOM + SPARE) return tmpdir();
  await removeAbandoned(MEMORY, prefix);
  return MEMORY;
}

/** Removes folders of Postgres servers that no longer run. */
export async function removeAbandoned(parent: string, prefix: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const folder = join(parent, name);
    if (name.startsWith(prefix) && (await isAbandoned(folder)))
      await rm(folder, { recursive: true, force: true });
  }
}

async function freeBytes(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    // Other systems have no such folder.
    return 0;
  }
}

async function isAbandoned(folder: string): Promise<boolean> {
  try {
    return !isRunning(Number.parseInt(await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10));
  } catch {
    // The server has not started yet, or has ended and is being removed.
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    return Date.now() - mtimeMs > START_MS;
  }
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

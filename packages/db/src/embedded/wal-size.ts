import { statfs } from 'node:fs/promises';

const MEGABYTE = 1024 ** 2;
const MEGABYTES = { least: 1_024, most: 4_096 };
const SHARE_OF_FREE_DISK = 1 / 20;

/**
 * Returns `max_wal_size` for a server whose cluster is in this folder. After each checkpoint, the first change of a
 * page writes the whole page to the WAL, so fewer checkpoints write less. But the WAL must not fill a small disk.
 */
export async function maxWalSize(folder: string): Promise<string> {
  const { bavail, bsize } = await statfs(folder);
  return `${walMegabytes(bavail * bsize)}MB`;
}

/**
 * Returns a twentieth of the free disk, at least Postgres' default of 1 GB and at most 4 GB. @param freeBytes of the
 * disk
 */
export function walMegabytes(freeBytes: number): number {
  const share = Math.floor((freeBytes * SHARE_OF_FREE_DISK) / MEGABYTE);
  return Math.min(MEGABYTES.most, Math.max(MEGABYTES.least, share));
}

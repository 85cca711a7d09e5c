import { statfs } from 'node:fs/promises';

const MEGABYTE = 1024 ** 2;
const MEGABYTES = { least: 1_024, most: 4_096 };
const SHARE_OF_FREE_DISK = 1 / 20;

/**
 * `max_wal_size` for a server whose cluster lies in this folder. After each checkpoint a page goes to the log whole when it is
 * first changed, so the fewer checkpoints, the less is written; but the log must not fill a small disk.
 */
export async function maxWalSize(folder: string): Promise<string> {
  const { bavail, bsize } = await statfs(folder);
  return `${walMegabytes(bavail * bsize)}MB`;
}

/** A twentieth of the free disk, between Postgres' own default of 1 GB and 4 GB. @param freeBytes of the disk */
export function walMegabytes(freeBytes: number): number {
  const share = Math.floor((freeBytes * SHARE_OF_FREE_DISK) / MEGABYTE);
  return Math.min(MEGABYTES.most, Math.max(MEGABYTES.least, share));
}

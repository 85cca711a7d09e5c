import { statfs } from 'node:fs/promises';

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

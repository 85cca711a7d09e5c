import { statfs } from 'node:fs/promises';
import { errorText } from '@chainstead/core';

export interface DiskPlace {
  /** Operator's `DATABASE_DISK_BYTES`; null: not set. */
  readonly diskBytes: number | null;
  /** Embedded server's data folder; null: elsewhere. */
  readonly folder: string | null;
}

export type DiskSpace =
  | {
      readonly isKnown: true;
      readonly sizeBytes: number;
      readonly freeBytes: number;
      /** `setting`: free is the setting minus the database. */
      readonly source: 'setting' | 'folder';
    }
  | { readonly isKnown: false; readonly reason: string };

export async function readDiskSpace({ diskBytes, folder }: DiskPlace, databaseBytes: number): Promise<DiskSpace> {
  const freeBytes = Math.max(0, (diskBytes ?? 0) - databaseBytes);
  if (diskBytes !== null) return { isKnown: true, sizeBytes: diskBytes, freeBytes, source: 'setting' };
  if (folder === null)
    return {
      isKnown: false,
      reason:
        'Postgres does not report the free space of its disk. Set DATABASE_DISK_BYTES to the size of that disk',
    };
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { isKnown: true, sizeBytes: blocks * bsize, freeBytes: bavail * bsize, source: 'folder' };
  } catch (error) {
    return { isKnown: false, reason: `The disk of ${folder} could not be read here: ${errorText(error)}` };
  }
}

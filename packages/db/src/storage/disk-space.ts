import { statfs } from 'node:fs/promises';
import { errorText } from '@chainstead/core';

/** Where the database's disk can be learnt from. */
export interface DiskPlace {
  /** Its size as the operator says (`DATABASE_DISK_BYTES`); null: they don't. */
  readonly diskBytes: number | null;
  /** Of the embedded server's data, on this machine; null: the server is elsewhere. */
  readonly folder: string | null;
}

/** The disk that the database lies on, or why nothing is known of it. Bytes. */
export type DiskSpace =
  | {
      readonly isKnown: true;
      readonly sizeBytes: number;
      readonly freeBytes: number;
      /** `setting`: what is free is the size that was told without the database's own. */
      readonly source: 'setting' | 'folder';
    }
  | { readonly isKnown: false; readonly reason: string };

/** @param databaseBytes what the database takes */
export async function readDiskSpace({ diskBytes, folder }: DiskPlace, databaseBytes: number): Promise<DiskSpace> {
  if (diskBytes !== null)
    return {
      isKnown: true,
      sizeBytes: diskBytes,
      freeBytes: Math.max(0, diskBytes - databaseBytes),
      source: 'setting',
    };
  if (folder === null)
    return {
      isKnown: false,
      reason: 'Postgres tells nobody how much of its disk is free: set DATABASE_DISK_BYTES to the size of that disk',
    };
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { isKnown: true, sizeBytes: blocks * bsize, freeBytes: bavail * bsize, source: 'folder' };
  } catch (error) {
    return { isKnown: false, reason: `The disk of ${folder} could not be read here: ${errorText(error)}` };
  }
}

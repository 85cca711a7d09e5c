import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, type Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { ConfiguredKey } from '@chainstead/http';
import { createFirstAdminKey } from '@chainstead/http/server';

const FILE = 'console-key';

export interface AdminKeyFileOptions {
  readonly database: Database;
  readonly configured: readonly ConfiguredKey[];
  readonly dataDirectory: string;
  readonly logger: Logger;
}

/** Printed output ends up in logs. @returns null if such a key ever existed, or on failure */
export async function writeFirstAdminKey(options: AdminKeyFileOptions): Promise<string | null> {
  const { database, configured, dataDirectory, logger } = options;
  const path = join(dataDirectory, FILE);
  const unwritten = new Set<unknown>();
  try {
    const key = await createFirstAdminKey(database, configured, async (made) => {
      try {
        await writePrivate(dataDirectory, path, made);
      } catch (error) {
        unwritten.add(error);
        throw error;
      }
    });
    return key === null ? null : path;
  } catch (error) {
    if (!unwritten.has(error)) throw error;
    logger.warn(
      { path, reason: errorText(error) },
      'Console key file could not be written. Run "chainstead keys create --scope admin"',
    );
    return null;
  }
}

/** Whole or not at all, without rights or links of an earlier file. */
async function writePrivate(directory: string, path: string, text: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}`;
  await rm(temporary, { force: true });
  await writeFile(temporary, `${text}\n`, { mode: 0o600, flag: 'wx' });
  await rename(temporary, path);
}

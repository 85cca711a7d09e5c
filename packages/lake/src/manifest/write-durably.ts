import { open, rm } from 'node:fs/promises';

/** Writes a new file in place of a file or link, and waits until the disk has it. */
export async function writeDurably(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  const file = await open(path, 'wx');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

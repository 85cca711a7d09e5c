import { open } from 'node:fs/promises';

/** Writes a file, and waits until the disk has it. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '@chainstead/core';
import { UnreadablePlaceError } from './read-file-or-url.ts';

export interface ListedFile {
  readonly path: string;
  readonly bytes: number;
}

/** A file, or all below a folder, by name. Follows no links. @throws UnreadablePlaceError */
export async function* listFiles(place: string): AsyncGenerator<ListedFile> {
  try {
    const found = await stat(place);
    if (found.isDirectory()) yield* filesBelow(place);
    else yield { path: place, bytes: found.size };
  } catch (error) {
    throw error instanceof UnreadablePlaceError
      ? error
      : new UnreadablePlaceError(place, errorText(error), error);
  }
}

async function* filesBelow(folder: string): AsyncGenerator<ListedFile> {
  const names: { readonly name: string; readonly isFolder: boolean }[] = [];
  for await (const entry of await opendir(folder))
    if (entry.isFile() || entry.isDirectory()) names.push({ name: entry.name, isFolder: entry.isDirectory() });
  for (const { name, isFolder } of names.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, name);
    if (isFolder) yield* filesBelow(path);
    else yield { path, bytes: (await stat(path)).size };
  }
}

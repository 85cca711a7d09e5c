import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { errorText } from '@chainstead/core';
import { UnreadablePlaceError } from './read-file-or-url.ts';

/** The lines of a file, without their ends, read as they are taken. @throws UnreadablePlaceError */
export async function* readLines(path: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    throw new UnreadablePlaceError(path, errorText(error), error);
  }
}

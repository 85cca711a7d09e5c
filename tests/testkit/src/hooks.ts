/** Set-up and clean-up of test files. Only vitest can load it. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import {
  createScratchDatabase,
  type ScratchDatabase,
  type ScratchDatabaseOptions,
} from './postgres/scratch-database.ts';

const FILE = [beforeAll, afterAll] as const;
const TEST = [beforeEach, afterEach] as const;

/**
 * Opens a stage before the file's tests and closes it after them. Hooks and tests read its members; before them it has none.
 * @param open returns an object whose own members are all that it has: they are copied
 */
export function stageOfFile<T extends { close(): unknown }>(open: () => Promise<T>): T {
  return openAround(FILE, open, (stage) => stage.close());
}

/** The same around each test. */
export function stageOfTest<T extends { close(): unknown }>(open: () => Promise<T>): T {
  return openAround(TEST, open, (stage) => stage.close());
}

/** The same, of what needs no closing. */
export function madeForFile<T extends object>(make: () => Promise<T>): T {
  return openAround(FILE, make, () => undefined);
}

/** A scratch database for the tests of a file. */
export function scratchOfFile(options?: ScratchDatabaseOptions): ScratchDatabase {
  return openAround(
    FILE,
    () => createScratchDatabase(options),
    (scratch) => scratch.drop(),
  );
}

function openAround<T extends object>(
  [before, after]: typeof FILE | typeof TEST,
  open: () => Promise<T>,
  close: (opened: T) => unknown,
): T {
  const members = {} as T;
  let opened: T | undefined;
  before(async () => {
    opened = await open();
    Object.defineProperties(members, Object.getOwnPropertyDescriptors(opened));
  });
  after(async () => {
    const closing = opened;
    opened = undefined;
    if (closing !== undefined) await close(closing);
  });
  return members;
}

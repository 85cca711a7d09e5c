import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkOutProgram } from '@chainstead/testkit';

/** The state that answers are held against: before statements were prepared. */
export const BASELINE_COMMIT = '9ee75c6';

/** The program of an earlier commit, checked out beside this one. */
export interface Baseline {
  /** As `chainstead-program.ts` starts it. */
  readonly program: string;
  remove(): Promise<void>;
}

const MIGRATIONS = 'migrations';
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Checks the baseline out into a folder of its own. It takes the migrations of this checkout for its own, since it serves databases of this one's
 * schema. @throws {TestkitError} where git doesn't have the commit, or the registry not what it depends on
 */
export async function checkOutBaseline(): Promise<Baseline> {
  const { folder, entry, remove } = await checkOutProgram(BASELINE_COMMIT);
  try {
    await rm(join(folder, MIGRATIONS), { recursive: true });
    await cp(join(ROOT, MIGRATIONS), join(folder, MIGRATIONS), { recursive: true });
    return { program: entry, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

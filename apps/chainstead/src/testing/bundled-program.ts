import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../../bin/chainstead.js', import.meta.url));

/** The program that tests start: the bundle that the global set-up made (scripts/program-for-tests.ts), or outside of a test run the sources. */
export function programToStart(): { readonly entry: string; readonly environment: Readonly<Record<string, string>> } {
  const folder = process.env.CHAINSTEAD_TEST_PROGRAM;
  if (folder === undefined) return { entry: SOURCES, environment: {} };
  // What is compiled goes with the bundle.
  return {
    entry: join(folder, 'bin/chainstead.js'),
    environment: { NODE_COMPILE_CACHE: join(folder, 'compile-cache') },
  };
}

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCRATCH_ADMIN_URL_VARIABLE, SCRATCH_TEMPLATE_VARIABLE, startScratchServer } from './scratch-database.ts';

/**
 * Global set-up of the test run: one server for all test files, embedded or that of TEST_DATABASE_URL. The files find it
 * through the environment, which their processes inherit; so do the processes that they start, which keep what they compiled where the
 * program does.
 * @returns the tear-down
 */
export default async function setUpPostgres(): Promise<() => Promise<void>> {
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache');
  const url = process.env.TEST_DATABASE_URL;
  const server = await startScratchServer(url === undefined ? { isInMemory: true } : { url });
  process.env[SCRATCH_ADMIN_URL_VARIABLE] = server.adminUrl;
  process.env[SCRATCH_TEMPLATE_VARIABLE] = server.template;
  return () => server.stop();
}

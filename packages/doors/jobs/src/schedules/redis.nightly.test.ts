import { findDockerDaemon, startRedisContainer } from '@chainstead/testkit';
import { afterAll, vi } from 'vitest';

const daemon = await findDockerDaemon('schedules on a Redis container');
const redis = daemon ? await startRedisContainer() : undefined;
afterAll(() => redis?.stop());

if (redis !== undefined) {
  // Runs every test of the suite, which reads this variable when it is loaded.
  vi.stubEnv('TEST_REDIS_URL', redis.url);
  await import('./schedules.system.test.ts');
}

import { defineConfig } from 'vitest/config';

// Files share one embedded Postgres server (scratch databases from a template), started by the global set-up.
export default defineConfig({
  test: {
    include: ['apps/*/src/**/*.test.ts', 'packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
    globalSetup: ['packages/testkit/src/vitest-postgres.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // A busy machine is no fault; `npm test` names every test that needed it.
    retry: 1,
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
});

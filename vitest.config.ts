import { defineConfig } from 'vitest/config';

// Files share one embedded Postgres server (scratch databases from a template), started by the global set-up.
export default defineConfig({
  test: {
    globalSetup: ['packages/testkit/src/vitest-postgres.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Loading modules for each file anew took a quarter of the whole run; nothing here keeps state in them.
    isolate: false,
    // A busy machine is no fault; `npm test` names every test that needed it.
    retry: 1,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'packages',
          include: ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          include: ['apps/*/src/**/*.test.ts'],
          // Started programs that wait for each other, and for a takeover.
          testTimeout: 240_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});

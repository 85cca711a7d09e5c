import { defineConfig } from 'vitest/config';

// Files share one embedded Postgres server (scratch databases from a template), started by the global set-up.
export default defineConfig({
  test: {
    globalSetup: ['packages/testkit/src/vitest-postgres.ts'],
    pool: 'forks',
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
          // They wait for databases, nodes and jobs half of their time: on two processors a third process finds work to do.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          include: ['apps/*/src/**/*.test.ts'],
          // Each starts processes of its own, and nodes that are left too little time count as broken.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          // Started programs that wait for each other, and for a takeover.
          testTimeout: 240_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});

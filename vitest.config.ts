import { configDefaults, defineConfig } from 'vitest/config';

/** They kill and compare for long: `npm run chaos`, not `npm test`. */
const CHAOS = '**/*.chaos.test.ts';

/** Each starts processes of its own, and nodes that are left too little time count as broken. */
const ofPrograms = {
  // Beside the server.
  globalSetup: ['scripts/program-for-tests.ts'],
  maxWorkers: 2,
  // Started programs that wait for each other, and for a takeover.
  testTimeout: 240_000,
  hookTimeout: 180_000,
};

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
          exclude: [...configDefaults.exclude, CHAOS],
          // They wait for databases, nodes and jobs half of their time: on two processors a third process finds work to do.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...ofPrograms,
          name: 'programs',
          include: ['apps/*/src/**/*.test.ts'],
          exclude: [...configDefaults.exclude, CHAOS],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...ofPrograms,
          name: 'chaos',
          include: [CHAOS],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

import { configDefaults, defineConfig } from 'vitest/config';

/** For how long `expect.poll` and `vi.waitFor` wait for a state. Milliseconds. They return as soon as it is there. */
const WAIT_MS = 15_000;

// The tiers of scripts/test.ts. A file's name puts it into a tier; files named otherwise are fast.
const SYSTEM = '**/*.system.test.ts';
const NIGHTLY = '**/*.nightly.test.ts';
// Both run in the fast tier with less to look at, and in full in a later one (tests/testkit/src/test-tier.ts).
const EXPLAIN = '**/*.explain.test.ts';
const PROPERTIES = '**/*.property.test.ts';
// Those that take too long for the fast tier run with fewer values in the system tier.
const SYSTEM_PROPERTIES = '**/*.system.property.test.ts';

// Files share one Postgres server, where each has a separate database.
export default defineConfig({
  test: {
    globalSetup: [
      'tests/testkit/src/vitest-temporary-folder.ts',
      'tests/testkit/src/postgres/vitest-postgres.ts',
    ],
    reporters: ['default', './scripts/tier-reporter.ts'],
    pool: 'forks',
    // A fresh set of modules per file took a quarter of a run. Files that leave something behind in a module must put it back.
    isolate: false,
    retry: 0,
    expect: { poll: { timeout: WAIT_MS } },
    provide: { waitMs: WAIT_MS },
    setupFiles: [
      'scripts/wait-for-timeout.ts',
      'tests/testkit/src/vitest-property-seed.ts',
      'packages/doors/db/src/testing/record-rows.ts',
    ],
    // Tests wait for databases, nodes and jobs about half of their time: two processors serve three workers.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          env: { TEST_TIER: 'fast' },
          include: ['{apps,tests}/*/src/**/*.test.ts', 'packages/*/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: [...configDefaults.exclude, SYSTEM, NIGHTLY, SYSTEM_PROPERTIES],
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          env: { TEST_TIER: 'system' },
          include: [SYSTEM, SYSTEM_PROPERTIES, EXPLAIN],
          testTimeout: 90_000,
          hookTimeout: 90_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'nightly',
          env: { TEST_TIER: 'nightly' },
          include: [NIGHTLY, PROPERTIES],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});

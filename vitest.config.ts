import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** They kill and compare for long: `npm run chaos`, not `npm test`. */
const CHAOS = '**/*.chaos.test.ts';

/** For how long tests wait for a state of which they don't say more: longer than a busy machine stalls. */
const PATIENCE_MS = 15_000;

const ofPrograms = {
  // Beside the server.
  globalSetup: ['scripts/program-for-tests.ts'],
  // Started programs that wait for each other, and for a takeover.
  testTimeout: 240_000,
  hookTimeout: 180_000,
};

/**
 * Files that take half a minute and more (`npm test` tells which). Begun last, such a file would leave the other processors with nothing to do: vitest
 * itself knows how long files took only where it has run them before, which CI never has.
 */
const LONG = [
  'packages/console/src/browser.test.ts',
  'packages/console/src/pages/datasets/datasets-browser.test.ts',
  'packages/console/src/pages/look-up/look-up-browser.test.ts',
  'packages/console/src/pages/streams/streams.browser.test.ts',
  'packages/db/src/citus/distribute-tables.test.ts',
  'packages/nft/src/collections/metadata-worker.test.ts',
  'packages/nft/src/transfers/wallet-history/wallet-history.test.ts',
  'packages/state/src/state-questions.test.ts',
  'apps/chainstead/src/acceptance/assets/list-pages.test.ts',
  'apps/chainstead/src/acceptance/nft-devnet.test.ts',
  'apps/chainstead/src/start.test.ts',
].map((path) => join(import.meta.dirname, path));

/** The order of test files: within a project those first that take longest, then as vitest has them. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = LONG.filter((path) => !existsSync(path));
    if (gone.length > 0)
      throw new Error(`Not there any more, take it out of ${import.meta.filename}: ${gone.join(', ')}`);
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      const isLong = ({ moduleId }: TestSpecification): boolean => LONG.includes(moduleId);
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))];
    });
  }
}

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
    // Left alone both kinds of waiting give up after a second, for which a busy machine stalls.
    expect: { poll: { timeout: PATIENCE_MS } },
    provide: { patienceMs: PATIENCE_MS },
    setupFiles: ['scripts/wait-out-stalls.ts'],
    sequence: { sequencer: LongestFirst },
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
          // They wait for takeovers and for polls; nodes that are left too little time count as broken, so there are no more.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...ofPrograms,
          name: 'chaos',
          include: [CHAOS],
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

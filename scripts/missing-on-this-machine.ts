import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from './check/source-files.ts';

const PROBE_TIMEOUT_MS = 5_000;

/** What tests need of a machine, and what can't be tested without it. */
const NEEDS = {
  docker: {
    isThere: () => works('docker', ['info']),
    without: 'tests that need a Docker daemon (testcontainers: other Postgres versions, Citus)',
  },
  redis: {
    isThere: () => process.env.TEST_REDIS_URL !== undefined || works('redis-server', ['--version']),
    without: 'queue tests on Redis (no redis-server on this machine, and TEST_REDIS_URL is not set)',
  },
  pgbouncer: {
    isThere: () => existsSync('/usr/sbin/pgbouncer') || works('pgbouncer', ['--version']),
    without: 'tests behind PgBouncer (no pgbouncer on this machine)',
  },
  chromium: {
    isThere: () => works('chromium', ['--version']),
    without: "tests of the console in a browser (Debian's package chromium is not on this machine)",
  },
  postgres: {
    isThere: () => hasInFolder('/usr/lib/postgresql', 'bin/initdb'),
    without: "tests with pg_dump and standbys (Debian's package postgresql is not on this machine)",
  },
  citus: {
    isThere: () => hasInFolder('/usr/share/postgresql', 'extension/citus.control'),
    without: "tests on a cluster of Citus (Debian's Postgres here has no such extension)",
  },
  recordedBlocks: {
    isThere: () => existsSync(join(REPOSITORY_ROOT, '../shared/data/evm')),
    without: 'tests on recorded blocks (no ../shared/data beside the checkout)',
  },
} as const;

type Need = keyof typeof NEEDS;

/** Lines for the end of a run, so that nobody takes a part for the whole. */
export function missingOnThisMachine(needs: readonly Need[] = Object.keys(NEEDS) as Need[]): string[] {
  return needs.flatMap((name) => (NEEDS[name].isThere() ? [] : [`did not run: ${NEEDS[name].without}`]));
}

function hasInFolder(folder: string, file: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((version) => existsSync(join(folder, version, file)));
}

function works(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore', timeout: PROBE_TIMEOUT_MS }).status === 0;
}

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from './check/source-files.ts';

const PROBE_TIMEOUT_MS = 5_000;

interface Need {
  /** From this tier on tests need it. */
  readonly tier: 'fast' | 'system' | 'nightly';
  readonly isThere: () => boolean;
  readonly without: string;
}

const NEEDS: readonly Need[] = [
  {
    tier: 'fast',
    isThere: () => existsSync(join(REPOSITORY_ROOT, '../shared/data/evm')),
    without: 'tests on recorded blocks (no ../shared/data next to the checkout)',
  },
  {
    tier: 'fast',
    isThere: () => works('systemd-analyze', ['--version']),
    without: "the check of the documented unit by systemd (Debian's package systemd is missing)",
  },
  {
    tier: 'fast',
    isThere: () => works('amtool', ['--version']),
    without: "the check of the example by Alertmanager (Debian's package prometheus-alertmanager is missing)",
  },
  {
    tier: 'system',
    isThere: () => process.env.TEST_REDIS_URL !== undefined || works('redis-server', ['--version']),
    without: 'queue tests on Redis (redis-server is missing and TEST_REDIS_URL is not set)',
  },
  {
    tier: 'system',
    isThere: () => existsSync('/usr/sbin/pgbouncer') || works('pgbouncer', ['--version']),
    without: 'tests behind PgBouncer (pgbouncer is missing)',
  },
  {
    tier: 'system',
    isThere: () => works('chromium', ['--version']),
    without: "tests of the console in a browser (Debian's package chromium is missing)",
  },
  {
    tier: 'system',
    isThere: () => hasInFolder('/usr/lib/postgresql', 'bin/initdb'),
    without: "tests with psql, pg_dump and standbys (Debian's package postgresql is missing)",
  },
  {
    tier: 'system',
    isThere: () => works('go', ['version']) && works('php', ['--version']) && works('python3', ['--version']),
    without: "checks of webhooks in other languages (Debian's golang-go, php-cli or python3 is missing)",
  },
  {
    tier: 'system',
    isThere: () => works('cargo', ['--version']) && hasInFolder('/usr/share/cargo/registry', 'src/lib.rs'),
    without:
      "the check of webhooks in Rust (Debian's cargo, librust-hmac-dev, librust-sha2-dev or librust-base64-dev is missing)",
  },
  {
    tier: 'system',
    isThere: () => existsSync(join(REPOSITORY_ROOT, 'packages/products/lake/duckdb/node_modules')),
    without: 'exports that DuckDB reads (run `npm ci --prefix packages/products/lake/duckdb`)',
  },
  {
    tier: 'nightly',
    isThere: () => works('docker', ['info']),
    without: 'tests in containers (no Docker daemon)',
  },
  {
    tier: 'nightly',
    isThere: () => hasInFolder('/usr/share/postgresql', 'extension/citus.control'),
    without: 'tests on a Citus cluster (Postgres lacks the extension)',
  },
  {
    tier: 'nightly',
    isThere: () => existsSync(join(REPOSITORY_ROOT, 'site/node_modules')),
    without: 'the build of the documentation site (site/node_modules is missing: run `npm ci` in site)',
  },
];

const TIERS = ['fast', 'system', 'nightly'] as const;

/** Returns one line for each thing that tests of the tier need and this machine lacks. */
export function missingOnThisMachine(tier: Need['tier']): string[] {
  return NEEDS.filter((need) => TIERS.indexOf(need.tier) <= TIERS.indexOf(tier) && !need.isThere()).map(
    ({ without }) => `not run: ${without}`,
  );
}

function hasInFolder(folder: string, file: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((version) => existsSync(join(folder, version, file)));
}

function works(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore', timeout: PROBE_TIMEOUT_MS }).status === 0;
}

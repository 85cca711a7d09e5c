/** `chainstead upgrade-check` of this version and of a next one, which has more migrations. */
import { rawSql, sql } from '@chainstead/db';
import { migrate } from '@chainstead/db/server';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CommandOutcome, runCaptured } from '../testing/captured-context.ts';
import { makeNextVersion, type NextVersion } from '../testing/next-version.ts';

const NEXT = '0001_next';

let scratch: ScratchDatabase;
let next: NextVersion;
beforeAll(async () => {
  next = await makeNextVersion();
  await next.writeMigration(
    NEXT,
    `-- Adds a column and removes a view.
ALTER TABLE "blocks" ADD COLUMN "next" bigint;--> statement-breakpoint
CREATE INDEX "blocks_by_time" ON "blocks" ("block_timestamp");--> statement-breakpoint
DROP VIEW analytics.coverage;`,
  );
});
beforeEach(async () => {
  scratch = await createScratchDatabase();
});
afterEach(() => scratch.drop());
afterAll(() => next.remove());

type Environment = Readonly<Record<string, string>>;
const environmentOf = (more: Environment = {}): Environment => ({
  DATABASE_URL: scratch.url,
  CHAINS: 'eth',
  ...more,
});
const check = (args: readonly string[] = []) => runCaptured(['upgrade-check', ...args], environmentOf());
const checkNext = (args: readonly string[] = [], more?: Environment) =>
  next.run(['upgrade-check', ...args], environmentOf(more));
const planOf = ({ stdout }: CommandOutcome) => JSON.parse(stdout);

/** Blocks, coverage, and a derived state of an earlier version. */
const ROWS = [
  `INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (1, 0, 9)`,
  `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (1, 'erc20-transfers', 0, 99, 'none'), (1, 'nft-transfers', 0, 99, 'none')`,
  `INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) SELECT 1, n, decode(repeat('e4', 32), 'hex'), now() FROM generate_series(1, 20000) AS n`,
  `INSERT INTO projections (chain_id, state, dataset, version, status, position) VALUES
     (1, 'nft-sale-days', 'nft-trades', 999, 'built', 0), (1, 'nft-metadata-due', 'nft-metadata-events', 1, 'built', 0)`,
  'ANALYZE',
];

async function fill(): Promise<void> {
  for (const statement of ROWS) await scratch.database.query(rawSql(statement));
}

/** Everything that the command could change: definitions, settings and rows. */
async function stateOf({ database }: ScratchDatabase): Promise<unknown> {
  return [
    await database.query(
      sql`SELECT oid::text, relname, relfilenode::text, reloptions FROM pg_class ORDER BY oid`,
    ),
    await database.query(sql`SELECT * FROM schema_migrations ORDER BY name`),
    await database.query(sql`SELECT * FROM projections`),
  ];
}

describe('upgrade-check', () => {
  it('reports nothing to do for a database that is up to date', async () => {
    const { exitCode, stdout, stderr } = await check();
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Migrations: none, all 1 are applied\.\n/);
    expect(stdout).toContain('Nothing to do');
    expect(planOf(await check(['--json']))).toMatchObject({
      nothing_to_do: true,
      would_fail: false,
      obstacles: [],
    });
  });

  it('lists pending migrations with their locks, rebuilds and new datasets, and the upgrade applies them', async () => {
    await fill();
    const outcome = await checkNext(['--json']);
    expect(outcome.exitCode).toBe(0);
    const plan = planOf(outcome);
    expect(plan).toMatchObject({ nothing_to_do: false, would_fail: false, disk: { free_bytes: null } });
    expect(plan.migrations).toMatchObject({
      applied: 1,
      pending: [
        {
          name: NEXT,
          summary: 'Adds a column and removes a view.',
          locks: [{ table: 'blocks', lock: 'all' }],
          rewrites: [],
        },
      ],
    });
    // An index of 20,000 blocks.
    expect(plan.disk.needed_bytes).toBeGreaterThan(500_000);
    expect(plan.rebuilds).toContainEqual(expect.objectContaining({ state: 'nft-sale-days', built_version: 999 }));
    expect(plan.new_datasets).toContainEqual({
      chain_id: 1,
      chain: 'eth',
      dataset: 'erc20-approvals',
      blocks: 100,
    });
    expect(plan.new_datasets.map(({ dataset }: { dataset: string }) => dataset)).not.toContain('nft-transfers');

    const migrated = await next.run(['migrate'], environmentOf());
    expect([migrated.exitCode, migrated.stdout]).toEqual([0, expect.stringContaining(`applied ${NEXT}`)]);
    expect(planOf(await checkNext(['--json'])).migrations).toMatchObject({ applied: 2, pending: [] });
  });

  it('changes nothing', async () => {
    await fill();
    const before = await stateOf(scratch);
    await checkNext();
    expect(await stateOf(scratch)).toEqual(before);
  });

  it('shows a person the same in tables', async () => {
    await fill();
    const { stdout } = await checkNext([], { PAGE_LIMIT_MAXX: '5' });
    expect(stdout).toMatch(/^0001_next +under 1 s +all of blocks +Adds a column/m);
    expect(stdout).toMatch(/^1 +nft-sale-days +version 999 to \d+/m);
    expect(stdout).toMatch(/^eth +erc20-approvals +100$/m);
    expect(stdout).toMatch(/Configuration: PAGE_LIMIT_MAXX .* has no effect/);
    expect(stdout).toMatch(/migrates in about .* when it starts/);
  });

  it('ends with 1 if the upgrade would fail, with the reason and the remedy', async () => {
    await scratch.database.query(sql`CREATE VIEW mine AS SELECT dataset FROM analytics.coverage`);
    const { exitCode, stdout, stderr } = await checkNext();
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/✗ The view mine reads analytics\.coverage, .*\[UPGRADE_BLOCKED_BY_VIEW\]/);
    expect(stderr).toMatch(/would fail: one problem must be fixed first.*\[UPGRADE_WOULD_FAIL\]/);
    expect(planOf(await checkNext(['--json']))).toMatchObject({
      would_fail: true,
      obstacles: [{ code: 'UPGRADE_BLOCKED_BY_VIEW' }],
    });
  });

  it('ends with 1 for a database of a newer version', async () => {
    expect((await next.run(['migrate'], environmentOf())).exitCode).toBe(0);
    const outcome = await check(['--json']);
    expect(outcome.exitCode).toBe(1);
    expect(planOf(outcome).obstacles).toMatchObject([
      {
        code: 'SCHEMA_NEWER',
        message: expect.stringContaining(NEXT),
        remedy: expect.stringContaining('newer version'),
      },
    ]);
  });

  it('reports all migrations as due for an empty database', async () => {
    const empty = await createScratchDatabase({ migrated: false });
    try {
      const environment = { DATABASE_URL: empty.url, CHAINS: 'eth' };
      const outcome = await next.run(['upgrade-check', '--json'], environment);
      expect(outcome.exitCode).toBe(0);
      const { migrations, rebuilds, new_datasets } = planOf(outcome);
      expect({ ...migrations, rebuilds, new_datasets }).toMatchObject({
        applied: 0,
        rebuilds: [],
        new_datasets: [],
      });
      expect(migrations.pending.map(({ name }: { name: string }) => name)).toEqual(['0000_initial', NEXT]);
      expect((await migrate(empty.database)).applied).toEqual(['0000_initial']);
    } finally {
      await empty.drop();
    }
  });
});

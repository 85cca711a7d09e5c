/** `chainstead upgrade-check` on databases of this and of earlier versions. */
import { migrate } from '@chainstead/db';
import { createScratchDatabase, migrateBefore, type ScratchDatabase } from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCaptured } from './testing/captured-context.ts';

let scratch: ScratchDatabase;
beforeEach(async () => {
  scratch = await createScratchDatabase({ migrated: false });
});
afterEach(() => scratch.drop());

const check = (args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) =>
  runCaptured(['upgrade-check', ...args], { DATABASE_URL: scratch.url, CHAINS: 'eth', ...environment });
const checkJson = async (environment: Readonly<Record<string, string>> = {}) => {
  const { exitCode, stdout } = await check(['--json'], environment);
  return { exitCode, plan: JSON.parse(stdout) };
};

/** Rows of an earlier version: two transfers, coverage, a sale day of the state's former version. */
const ROWS = [
  `INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (1, 0, 9)`,
  `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (1, 'erc20-transfers', 0, 99, 'none'), (1, 'nft-transfers', 0, 99, 'none')`,
  `INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) SELECT 1, n, decode(repeat('e4', 32), 'hex'), now() FROM generate_series(1, 9) AS n`,
  `INSERT INTO nft_transfers (token_address, chain_id, block_number, transaction_index, log_index, item, kind, token_id,
      from_address, to_address, amount, transaction_hash, block_hash, block_timestamp)
    SELECT decode(repeat('c0', 20), 'hex'), 1, n % 9 + 1, n, 2, 3, 1, n, decode(repeat('a1', 20), 'hex'), decode(repeat('b2', 20), 'hex'), 1,
      decode(repeat('d4', 32), 'hex'), decode(repeat('e4', 32), 'hex'), now() FROM generate_series(1, 5000) AS n`,
  `INSERT INTO derived_states (chain_id, state, dataset, version, status, position) VALUES
     (1, 'nft-sale-days', 'nft-trades', 999, 'built', 0), (1, 'nft-metadata-due', 'nft-metadata-events', 1, 'built', 0)`,
  'ANALYZE',
];

async function fillFormer(): Promise<void> {
  await migrateBefore(scratch.database, '0020_partitioned_nft_transfers');
  for (const statement of ROWS) await scratch.database.query(statement);
}

/** All that may change: definitions, settings and rows. */
async function stateOf({ database }: ScratchDatabase): Promise<unknown> {
  return [
    await database.query('SELECT oid::text, relname, relfilenode::text, reloptions FROM pg_class ORDER BY oid'),
    await database.query('SELECT * FROM schema_migrations ORDER BY name'),
    await database.query('SELECT * FROM derived_states'),
  ];
}

describe('upgrade-check', () => {
  it('says that nothing is to be done where the database is up to date', async () => {
    await migrate(scratch.database);
    const { exitCode, stdout, stderr } = await check();
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Migrations: none, all \d+ are applied\.\n/);
    expect(stdout).toContain('Nothing is to be done');
    expect((await checkJson()).plan).toMatchObject({ nothing_to_do: true, would_fail: false, obstacles: [] });
  });

  it('says what an upgrade will do: migrations, rebuilds, new datasets; and it does that', async () => {
    await fillFormer();
    const { exitCode, plan } = await checkJson();
    expect(exitCode).toBe(0);
    expect(plan).toMatchObject({ nothing_to_do: false, would_fail: false, disk: { free_bytes: null } });
    expect(plan.rebuilds).toContainEqual(expect.objectContaining({ state: 'nft-sale-days', built_version: 999 }));
    expect(plan.new_datasets).toContainEqual({ chain_id: 1, chain: 'eth', dataset: 'erc20-approvals', blocks: 100 });
    expect(plan.new_datasets.map(({ dataset }: { dataset: string }) => dataset)).not.toContain('nft-transfers');

    const names = plan.migrations.pending.map(({ name }: { name: string }) => name);
    expect((await migrate(scratch.database)).applied).toEqual(names);
    const { plan: after } = await checkJson();
    expect(after.migrations.pending).toEqual([]);
  });

  it('changes nothing', async () => {
    await fillFormer();
    const before = await stateOf(scratch);
    await check();
    expect(await stateOf(scratch)).toEqual(before);
  });

  it('tells a person the same in tables', async () => {
    await fillFormer();
    const { stdout } = await check([], { PAGE_LIMIT_MAXX: '5' });
    expect(stdout).toMatch(/^0020_partitioned_nft_transfers +under 1 s +all of .*nft_transfers/m);
    expect(stdout).toMatch(/^1 +nft-sale-days +version 999 to \d+/m);
    expect(stdout).toMatch(/^eth +erc20-approvals +100$/m);
    expect(stdout).toMatch(/Configuration: PAGE_LIMIT_MAXX .* has no effect/);
    expect(stdout).toMatch(/migrates in about .* when it starts/);
  });

  it('ends with 1 where the upgrade would fail, and says why and what to do', async () => {
    await fillFormer();
    await scratch.database.query('CREATE VIEW mine AS SELECT token_id FROM analytics.nft_transfers');
    const { exitCode, stdout, stderr } = await check();
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/✗ The view mine reads analytics\.nft_transfers, .*\[UPGRADE_BLOCKED_BY_VIEW\]/);
    expect(stderr).toMatch(/would fail: one thing stands in its way.*\[UPGRADE_WOULD_FAIL\]/);
    const { plan } = await checkJson();
    expect(plan).toMatchObject({ would_fail: true, obstacles: [{ code: 'UPGRADE_BLOCKED_BY_VIEW' }] });
  });

  it('ends with 1 for a database of a newer version', async () => {
    await migrate(scratch.database);
    await scratch.database.query("INSERT INTO schema_migrations (name, hash) VALUES ('9999_later', 'x')");
    const { exitCode, plan } = await checkJson();
    expect(exitCode).toBe(1);
    expect(plan.obstacles).toMatchObject([{ code: 'SCHEMA_NEWER', remedy: expect.stringContaining('newer version') }]);
  });

  it('says of an empty database that all migrations are due', async () => {
    const { exitCode, plan } = await checkJson();
    expect(exitCode).toBe(0);
    expect(plan).toMatchObject({ migrations: { applied: 0 }, rebuilds: [], new_datasets: [] });
    expect(plan.migrations.pending.length).toBeGreaterThan(40);
  });
});

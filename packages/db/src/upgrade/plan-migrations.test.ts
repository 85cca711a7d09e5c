/** Plans, held against what Postgres does when the migrations are run. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScratchDatabase, migrateBefore, type ScratchDatabase } from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '../database.ts';
import { MIGRATIONS_FOLDER, migrate } from '../migrate.ts';
import { readMigrations } from '../read-migrations.ts';
import { planMigrations } from './plan-migrations.ts';
import { findHeldTables, findObstacles } from './upgrade-obstacles.ts';

const TRANSFERS = `INSERT INTO nft_transfers (token_address, chain_id, block_number, transaction_index, log_index, item, kind, token_id,
    from_address, to_address, amount, transaction_hash, block_hash, block_timestamp)
  SELECT decode(repeat('c0', 20), 'hex'), 1, number, 1, 2, 3, 1, number, decode(repeat('a1', 20), 'hex'), decode(repeat('b2', 20), 'hex'), 1,
    decode(repeat('d4', 32), 'hex'), decode(repeat('e4', 32), 'hex'), '2026-01-01T00:00:00Z' FROM generate_series(1, 20000) AS number`;

let scratch: ScratchDatabase;
beforeEach(async () => {
  scratch = await createScratchDatabase({ migrated: false });
});
afterEach(() => scratch.drop());

/** Tables that the transaction locks in a way that others wait for, as a plan says it. */
async function lockedTables(
  transaction: Transaction,
  among: readonly string[],
): Promise<Record<string, 'all' | 'writes'>> {
  const rows = await transaction.query<{ name: string; is_all: boolean }>(
    `SELECT own.relname AS name, bool_or(held.mode = 'AccessExclusiveLock') AS is_all
       FROM pg_locks AS held JOIN pg_class AS own ON own.oid = held.relation
      WHERE held.pid = pg_backend_pid() AND held.mode IN ('AccessExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock')
        AND own.relkind IN ('r', 'p') AND own.oid::text = ANY($1::text[]) GROUP BY own.relname`,
    [among],
  );
  return Object.fromEntries(rows.map(({ name, is_all }) => [name, is_all ? 'all' : 'writes']));
}

interface TableFile {
  readonly oid: string;
  readonly name: string;
  readonly file: string;
}

const FILES = `SELECT oid::text, relname AS name, relfilenode::text AS file FROM pg_class
  WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND relname <> 'schema_migrations'`;

describe('the plan of each migration', () => {
  it('names the tables that it locks, and those that it writes anew', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chainstead-migrations-'));
    await cp(MIGRATIONS_FOLDER, folder, { recursive: true });
    const path = join(folder, 'meta/_journal.json');
    const journal: { entries: { tag: string }[] } = JSON.parse(await readFile(path, 'utf8'));
    let compared = 0;
    try {
      for (const [index, { name, text, hash }] of (await readMigrations(MIGRATIONS_FOLDER)).entries()) {
        await writeFile(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, index + 1) }));
        const { pending } = await planMigrations(scratch.database, folder);
        expect(pending.map((one) => one.name)).toEqual([name]);
        const [plan] = pending;
        const before = await scratch.database.query<TableFile>(FILES);
        const { locked, files } = await scratch.database.transaction(async (transaction) => {
          for (const statement of text.split('--> statement-breakpoint')) await transaction.client.query(statement);
          return {
            locked: await lockedTables(
              transaction,
              before.map(({ oid }) => oid),
            ),
            files: new Map((await transaction.query<TableFile>(FILES)).map(({ oid, file }) => [oid, file])),
          };
        });
        const named = (oid: string) => before.find((table) => table.oid === oid)?.name;
        const rewritten = before
          .filter(({ oid, file }) => files.has(oid) && files.get(oid) !== file)
          .map(({ oid }) => named(oid));
        const steps = plan?.steps ?? [];
        const planned = Object.fromEntries((plan?.locks ?? []).map(({ table, lock }) => [table, lock]));
        const sure = new Set(
          steps.flatMap(({ effect, table }) => (effect.isConditional === true || !table ? [] : [table.name])),
        );
        // Of a table that was renamed the lock is told by its former name; what is dropped has none any more.
        const gone = new Set(before.filter(({ oid }) => !files.has(oid)).map((table) => table.name));
        const renamed = new Map(
          steps.flatMap(({ effect: { object, renamedTo } }) => (renamedTo ? [[renamedTo, object ?? '']] : [])),
        );
        const actual = Object.fromEntries(
          Object.entries(locked).map(([table, lock]) => [renamed.get(table) ?? table, lock]),
        );
        for (const [table, lock] of Object.entries(actual))
          expect([name, table, planned[table]]).toEqual([name, table, lock]);
        for (const [table, lock] of Object.entries(planned))
          if (sure.has(table) && !gone.has(table)) expect([name, table, actual[table]]).toEqual([name, table, lock]);
        expect([
          name,
          steps.flatMap(({ effect, table }) => (effect.kind === 'rewrite' && table ? [table.name] : [])),
        ]).toEqual([name, rewritten]);
        compared += Object.keys(actual).length;
        await scratch.database.query(
          `CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, hash text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
        );
        await scratch.database.query('INSERT INTO schema_migrations (name, hash) VALUES ($1, $2)', [name, hash]);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    expect(compared).toBeGreaterThan(10);
  });
});

describe('the plan of several migrations', () => {
  it('follows a table through the names that it gets, and takes new ones for empty', async () => {
    await migrateBefore(scratch.database, '0020_partitioned_nft_transfers');
    await scratch.database.query(TRANSFERS);
    await scratch.database.query('ANALYZE nft_transfers');
    const { applied, pending } = await planMigrations(scratch.database);
    expect(applied).toBe(20);
    expect(pending[0]?.name).toBe('0020_partitioned_nft_transfers');
    expect(pending[0]?.locks).toContainEqual({ table: 'nft_transfers', lock: 'all' });
    // The one that 0024 indexes is made by 0020.
    const sender = pending
      .flatMap(({ steps }) => steps)
      .find(({ effect }) => effect.index?.name === 'nft_transfers_by_sender');
    expect(sender).toMatchObject({ table: undefined, isLeftOut: false });
    expect(pending.reduce((sum, { seconds }) => sum + seconds, 0)).toBeLessThan(10);
  });

  it('takes as long as tables are large, where they are read or written anew', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chainstead-migrations-'));
    try {
      await cp(MIGRATIONS_FOLDER, folder, { recursive: true });
      const path = join(folder, 'meta/_journal.json');
      const journal: { entries: { tag: string }[] } = JSON.parse(await readFile(path, 'utf8'));
      journal.entries = [...journal.entries.slice(0, 20), { tag: '0020_heavy' }];
      await writeFile(path, JSON.stringify(journal));
      await writeFile(
        join(folder, '0020_heavy.sql'),
        `CREATE INDEX "heavy" ON "nft_transfers" ("amount");--> statement-breakpoint
ALTER TABLE "nft_transfers" ADD COLUMN "twice" numeric GENERATED ALWAYS AS (amount * 2) STORED;`,
      );
      await migrateBefore(scratch.database, '0020_partitioned_nft_transfers');
      const [empty] = (await planMigrations(scratch.database, folder)).pending;
      await scratch.database.query(TRANSFERS);
      await scratch.database.query('ANALYZE nft_transfers');
      const [full] = (await planMigrations(scratch.database, folder)).pending;
      expect(empty?.bytes).toBeLessThan(200_000);
      expect(full?.bytes).toBeGreaterThan(4_000_000);
      expect(full?.seconds).toBeGreaterThan(2 * (empty?.seconds ?? 0));
      expect(full?.steps.map(({ effect, table }) => [effect.kind, table?.rows])).toEqual([
        ['build-index', 20_000],
        ['rewrite', 20_000],
      ]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('is empty for a database that is up to date', async () => {
    await migrate(scratch.database);
    const plan = await planMigrations(scratch.database);
    expect(plan.pending).toEqual([]);
    expect(plan.applied).toBeGreaterThan(40);
    expect(await findObstacles(scratch.database, plan)).toEqual([]);
  });
});

describe('what would make migrations fail', () => {
  it('is nothing on a database of an earlier version', async () => {
    await migrateBefore(scratch.database, '0019_partitioned_transfers');
    expect(await findObstacles(scratch.database, await planMigrations(scratch.database))).toEqual([]);
  });

  it('is a view of somebody over one that is dropped', async () => {
    await migrateBefore(scratch.database, '0020_partitioned_nft_transfers');
    await scratch.database.query('CREATE VIEW mine AS SELECT token_id FROM analytics.nft_transfers');
    const found = await findObstacles(scratch.database, await planMigrations(scratch.database));
    expect(found).toMatchObject([
      {
        code: 'UPGRADE_BLOCKED_BY_VIEW',
        message: expect.stringContaining('The view mine reads analytics.nft_transfers'),
      },
    ]);
    await expect(migrate(scratch.database)).rejects.toThrow(/depend/);
  });

  it('is a table with rows that gets a column without a value', async () => {
    await migrateBefore(scratch.database, '0027_collection_receivers');
    const plan = () => planMigrations(scratch.database);
    expect(await findObstacles(scratch.database, await plan())).toEqual([]);
    await scratch.database.query(
      `INSERT INTO nft_collection_ids (token_address, chain_id, token_id, token_hash, holders, supply) VALUES ('\\xc0', 1, 1, '\\x01', 1, 1)`,
    );
    expect(await findObstacles(scratch.database, await plan())).toMatchObject([{ code: 'UPGRADE_NEEDS_EMPTY_TABLE' }]);
  });

  it('is a role that owns none of the tables', async () => {
    await migrateBefore(scratch.database, '0019_partitioned_transfers');
    const role = `stranger_${process.pid}`;
    await scratch.database.query(`CREATE ROLE ${role}`);
    try {
      const codes = await scratch.database.transaction(async (transaction) => {
        await transaction.query('GRANT SELECT ON schema_migrations TO PUBLIC');
        await transaction.query(`SET LOCAL ROLE ${role}`);
        return (await findObstacles(transaction, await planMigrations(transaction))).map(({ code }) => code);
      });
      expect(codes).toEqual(['UPGRADE_NEEDS_RIGHTS', 'UPGRADE_NEEDS_OWNER']);
    } finally {
      await scratch.database.query(`DROP ROLE ${role}`);
    }
  });

  it('is not a session that holds a table, which is told', async () => {
    await migrateBefore(scratch.database, '0019_partitioned_transfers');
    await scratch.database.transaction(async (transaction) => {
      await transaction.query('SELECT FROM erc20_transfers LIMIT 1');
      await transaction.query('SELECT pg_sleep(2.1)');
      const held = await findHeldTables(scratch.database, await planMigrations(scratch.database));
      expect(held).toMatchObject([{ table: 'erc20_transfers', pid: expect.any(Number) }]);
    });
  });
});

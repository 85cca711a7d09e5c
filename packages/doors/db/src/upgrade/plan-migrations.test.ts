/** Plans of new migrations, compared with the actual locks and files of Postgres. */

import {
  copyMigrations,
  createScratchDatabase,
  type MigrationsCopy,
  type ScratchDatabase,
} from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '../database.ts';
import { migrate } from '../migrations/migrate.ts';
import { rawSql, sql } from '../sql.ts';
import { planMigrations } from './plan-migrations.ts';
import { findHeldTables, findObstacles } from './upgrade-obstacles.ts';

const BLOCKS = sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
  SELECT 1, number, decode(repeat('e4', 32), 'hex'), '2026-01-01T00:00:00Z' FROM generate_series(1, 20000) AS number`;

let scratch: ScratchDatabase;
let copy: MigrationsCopy;
beforeEach(async () => {
  copy = await copyMigrations();
});
afterEach(() => copy.remove());

async function createScratch(): Promise<void> {
  scratch = await createScratchDatabase();
}
const dropScratch = (): Promise<void> => scratch.drop();

function scratchPerTest(): void {
  beforeEach(createScratch);
  afterEach(dropScratch);
}

const plan = (database: Pick<ScratchDatabase['database'], 'query'> = scratch.database) =>
  planMigrations(database, copy.folder);

/** Returns the tables that the transaction locks against others, in the format of a plan. */
async function lockedTables(
  transaction: Transaction,
  among: readonly string[],
): Promise<Record<string, 'all' | 'writes'>> {
  const rows = await transaction.query<{ name: string; isAll: boolean }>(
    sql`SELECT own.relname AS name, bool_or(held.mode = 'AccessExclusiveLock') AS is_all
       FROM pg_locks AS held JOIN pg_class AS own ON own.oid = held.relation
      WHERE held.pid = pg_backend_pid() AND held.mode IN ('AccessExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock')
        AND own.relkind IN ('r', 'p') AND own.oid::text = ANY(${among}::text[]) GROUP BY own.relname`,
  );
  return Object.fromEntries(rows.map(({ name, isAll }) => [name, isAll ? 'all' : 'writes']));
}

interface TableFile {
  readonly oid: string;
  readonly name: string;
  readonly file: string;
}

const FILES = sql`SELECT oid::text, relname AS name, relfilenode::text AS file FROM pg_class
  WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND relname <> 'schema_migrations'`;

/** One statement of each kind that a migration may have. */
const STATEMENTS = [
  'CREATE TABLE "next" ("id" bigint PRIMARY KEY);',
  'CREATE INDEX "tokens_next" ON "tokens" ("created_block");',
  'CREATE INDEX "transfers_next" ON "erc20_transfer_sides" ("value");',
  'ALTER TABLE "tokens" ADD COLUMN "next" text[] DEFAULT \'{"a","b"}\' NOT NULL;',
  'ALTER TABLE "blocks" ADD COLUMN "next" bigint GENERATED ALWAYS AS (block_number * 2) STORED;',
  'ALTER TABLE "erc20_transfer_sides" ADD COLUMN "next" integer;',
  'ALTER TABLE "wallet_counts" ALTER COLUMN "sent" SET DATA TYPE bigint;',
  'ALTER TABLE "blocks" ALTER COLUMN "parent_hash" SET NOT NULL;',
  'ALTER TABLE "wallet_scan_state" ADD CONSTRAINT "wallet_scan_state_ordered" CHECK ("first_block" <= "last_block");',
  'ALTER TABLE "wallet_counts" ADD CONSTRAINT "wallet_counts_disjoint" EXCLUDE USING gist ("wallet" WITH =, int8range("first_block", "last_block", \'[]\') WITH &&);',
  'ALTER TABLE "account_codes" RENAME TO "account_codes_next";',
  'ALTER TABLE "native_balances" SET (fillfactor = 90);',
  'ALTER TABLE "stream_matches" ALTER COLUMN "body" SET STORAGE MAIN;',
  'UPDATE "tokens" SET "logo" = \'\';',
  'DROP VIEW analytics.coverage;',
  'DROP INDEX "audit_log_by_door";',
  'DROP TABLE "punk_bids" CASCADE;',
  `DO $$
BEGIN
  IF (SELECT coalesce(sum(pg_relation_size(inhrelid)), 0) FROM pg_inherits WHERE inhparent = 'nft_transfers'::regclass) < 1073741824 THEN
    CREATE INDEX "nft_transfers_next" ON "nft_transfers" ("amount");
  END IF;
END
$$;`,
];

describe('the plan of a migration', () => {
  // Each statement is rolled back, so all of them share a database.
  beforeAll(createScratch);
  afterAll(dropScratch);

  it.each(STATEMENTS)('names the tables that it locks and those that it rewrites: %s', async (text) => {
    await copy.write('0001_next', text);
    const { applied, pending } = await plan();
    expect([applied, pending.map(({ name }) => name)]).toEqual([1, ['0001_next']]);
    const steps = pending.flatMap((migration) => migration.steps);
    const planned = Object.fromEntries(
      pending.flatMap(({ locks }) => locks).map(({ table, lock }) => [table, lock]),
    );

    const before = await scratch.database.query<TableFile>(FILES);
    const { locked, files } = await scratch.database.transaction(async (transaction) => {
      await transaction.query(sql`SAVEPOINT unchanged`);
      await transaction.client.query(text);
      const found = {
        locked: await lockedTables(
          transaction,
          before.map(({ oid }) => oid),
        ),
        files: new Map((await transaction.query<TableFile>(FILES)).map(({ oid, file }) => [oid, file])),
      };
      await transaction.query(sql`ROLLBACK TO SAVEPOINT unchanged`);
      return found;
    });
    // The plan has the earlier name of a renamed table. A dropped table has no name any more.
    const renamed = new Map(steps.map(({ effect: { object, renamedTo } }) => [renamedTo, object ?? '']));
    const actual = Object.entries(locked).map(([table, lock]) => [renamed.get(table) ?? table, lock]);
    const dropped = before.filter(({ oid }) => !files.has(oid)).map(({ name }) => [name, 'all']);
    expect(planned).toEqual(Object.fromEntries([...actual, ...dropped]));
    const rewritten = before.filter(({ oid, file }) => files.has(oid) && files.get(oid) !== file);
    expect(
      steps.flatMap(({ effect, table }) => (effect.kind === 'rewrite' && table ? [table.name] : [])),
    ).toEqual(rewritten.map(({ name }) => name));
  });
});

describe('the duration of a migration', () => {
  scratchPerTest();

  it('grows with the tables that it reads or rewrites', async () => {
    await copy.write(
      '0001_heavy',
      `CREATE INDEX "heavy" ON "blocks" ("block_timestamp");--> statement-breakpoint
ALTER TABLE "blocks" ADD COLUMN "twice" bigint GENERATED ALWAYS AS (block_number * 2) STORED;`,
    );
    const [empty] = (await plan()).pending;
    await scratch.database.query(BLOCKS);
    await scratch.database.query(sql`ANALYZE blocks`);
    const [full] = (await plan()).pending;
    expect(empty?.bytes).toBeLessThan(200_000);
    expect(full?.bytes).toBeGreaterThan(2_000_000);
    expect(full?.seconds).toBeGreaterThan(2 * (empty?.seconds ?? 0));
    expect(full?.steps.map(({ effect, table }) => [effect.kind, table?.rows])).toEqual([
      ['build-index', 20_000],
      ['rewrite', 20_000],
    ]);
  });
});

describe('the plan of several migrations', () => {
  scratchPerTest();

  it('follows a table through its names, and takes a new one for empty', async () => {
    await scratch.database.query(BLOCKS);
    await scratch.database.query(sql`ANALYZE blocks`);
    await copy.write(
      '0001_renames',
      'ALTER TABLE "blocks" RENAME TO "early_blocks"; CREATE TABLE "blocks" ("x" bigint);',
    );
    await copy.write(
      '0002_indexes',
      'CREATE INDEX "a" ON "blocks" ("x"); CREATE INDEX "b" ON "early_blocks" ("block_hash");',
    );
    const { pending } = await plan();
    expect(pending[0]?.locks).toEqual([{ table: 'blocks', lock: 'all' }]);
    expect(pending[1]?.steps.map(({ table }) => table?.rows)).toEqual([undefined, 20_000]);
  });

  it('is empty for a database that is up to date', async () => {
    const upToDate = await plan();
    expect(upToDate).toEqual({ applied: 1, pending: [] });
    expect(await findObstacles(scratch.database, upToDate)).toEqual([]);
  });
});

describe('an obstacle to migrations', () => {
  scratchPerTest();

  it('is nothing if the role owns the tables', async () => {
    await copy.write('0001_next', 'ALTER TABLE "blocks" ADD COLUMN "next" bigint;');
    expect(await findObstacles(scratch.database, await plan())).toEqual([]);
  });

  it('is a view of somebody over one that is dropped', async () => {
    await copy.write('0001_next', 'DROP VIEW analytics.coverage;');
    await scratch.database.query(sql`CREATE VIEW mine AS SELECT dataset FROM analytics.coverage`);
    expect(await findObstacles(scratch.database, await plan())).toMatchObject([
      {
        code: 'UPGRADE_BLOCKED_BY_VIEW',
        message: expect.stringContaining('The view mine reads analytics.coverage'),
      },
    ]);
    await expect(migrate(scratch.database, { folder: copy.folder })).rejects.toThrow(/depend/);
  });

  it('is a table with rows that gets a column without a value', async () => {
    await copy.write('0001_next', 'ALTER TABLE "wallet_scan_state" ADD COLUMN "next" bigint NOT NULL;');
    expect(await findObstacles(scratch.database, await plan())).toEqual([]);
    await scratch.database.query(
      sql`INSERT INTO wallet_scan_state (chain_id, first_block, last_block) VALUES (1, 0, 9)`,
    );
    expect(await findObstacles(scratch.database, await plan())).toMatchObject([
      { code: 'UPGRADE_NEEDS_EMPTY_TABLE' },
    ]);
  });

  it('is a role that owns none of the tables', async () => {
    await copy.write('0001_next', 'ALTER TABLE "blocks" ADD COLUMN "next" bigint;');
    const role = `stranger_${process.pid}`;
    await scratch.database.query(sql`CREATE ROLE ${rawSql(role)}`);
    try {
      const codes = await scratch.database.transaction(async (transaction) => {
        await transaction.query(sql`GRANT SELECT ON schema_migrations TO PUBLIC`);
        await transaction.query(sql`SET LOCAL ROLE ${rawSql(role)}`);
        return (await findObstacles(transaction, await plan(transaction))).map(({ code }) => code);
      });
      expect(codes).toEqual(['UPGRADE_NEEDS_RIGHTS', 'UPGRADE_NEEDS_OWNER']);
    } finally {
      await scratch.database.query(sql`DROP ROLE ${rawSql(role)}`);
    }
  });

  it('is not a session that holds a table, which is reported', async () => {
    await copy.write('0001_next', 'ALTER TABLE "blocks" ADD COLUMN "next" bigint;');
    await scratch.database.transaction(async (transaction) => {
      await transaction.query(sql`SELECT FROM blocks LIMIT 1`);
      await transaction.query(sql`SELECT pg_sleep(2.1)`);
      const held = await findHeldTables(scratch.database, await plan());
      expect(held).toMatchObject([{ table: 'blocks', pid: expect.any(Number) }]);
    });
  });
});

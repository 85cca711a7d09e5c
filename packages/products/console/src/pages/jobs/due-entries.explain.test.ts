import { type Database, rawSql, type Sql, type Statement, sql, statementOf } from '@chainstead/db';
import { claimDue, type DueTable } from '@chainstead/jobs';
import { explain, PLANS } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { dueEntries } from './jobs-page.ts';

const BUSY_CHAIN = 1;
const BUSY_ROWS = 5_000;
const CHAIN = 8453;
const ROWS = 20;
/** Columns without which a row is not open. */
const OPEN: Readonly<Record<string, string>> = {
  nft_collection_traits: `UPDATE nft_collection_traits SET work = 'queue'`,
};
/** SQL: a value for a required column, by type. */
const VALUES: Readonly<Record<string, string>> = {
  bytea: `decode(lpad(to_hex(number), 40, '0'), 'hex')`,
  jsonb: `'{}'`,
  uuid: 'gen_random_uuid()',
  _uuid: 'ARRAY[gen_random_uuid()]',
  timestamptz: 'now()',
};

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  for (const { table } of dueEntries) await seed(scratch.database, table, CHAIN, ROWS);
  await scratch.database.query(sql`ANALYZE`);
  for (const { table } of dueEntries) {
    await seed(scratch.database, table, BUSY_CHAIN, BUSY_ROWS);
    if (OPEN[table.name] !== undefined) await scratch.database.query(rawSql(OPEN[table.name] ?? ''));
  }
});

/** Adds due rows: those of the busy chain have waited longer. */
async function seed(
  database: Database,
  { name, prefix = '' }: DueTable,
  chainId: number,
  rows: number,
): Promise<void> {
  const required = await database.query<{ columnName: string; udtName: string }>(
    sql`SELECT column_name::text, udt_name::text FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = ${name} AND is_nullable = 'NO' AND column_default IS NULL AND column_name <> 'chain_id'`,
  );
  const columns = required.map(({ columnName }) => `${columnName}, `).join('');
  const values = required.map(({ udtName }) => `${VALUES[udtName] ?? 'number'}, `).join('');
  await database.query(
    sql`INSERT INTO ${rawSql(name)} (${rawSql(columns)} chain_id, ${rawSql(prefix)}due_at)
     SELECT ${rawSql(values)} ${chainId}, now() - make_interval(hours => ${chainId === BUSY_CHAIN ? 2 : 1}) FROM generate_series(1, ${rows}) AS number`,
  );
}

/** Returns the statement that claims one row of the quiet chain. */
async function claimStatement({ isUrgent: _, ...table }: DueTable): Promise<Statement> {
  const statements: Statement[] = [];
  const database: Pick<Database, 'query'> = {
    async query(statement: Sql) {
      statements.push(statementOf(statement));
      return [];
    },
  };
  const options = { chainId: CHAIN, limit: 1, leaseMs: 1_000, holder: 'test', returning: 'work.chain_id' };
  await claimDue(database, table, options);
  const [statement] = statements;
  if (statement === undefined) throw new Error('No statement was recorded');
  return statement;
}

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database), 60_000);

  test.each(dueEntries)('finds due rows of $kind by an index that begins with the chain', async ({ table }) => {
    const { nodes } = await explain(scratch.database, await claimStatement(table), plan);
    // In another order than by due time, the index need not contain it.
    const found = table.order === undefined ? /chain_id = .*COALESCE/ : /chain_id = /;
    expect(nodes.map((node) => node['Index Cond'])).toContainEqual(expect.stringMatching(found));
  });
});

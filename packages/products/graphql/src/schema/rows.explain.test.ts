/** Statements of lists: one index range that ends after a page, whatever Postgres knows of the table. */
import { createChainRegistry } from '@chainstead/chains';
import { parseChainId, silentLogger } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import { createPartitions, explain, PLANS, type PlanNode, rowsRead } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkOperation, parseOperation } from '../operations/operation.ts';
import { runQuery } from '../operations/run-query.ts';
import { inSnapshot, PLANNER_SQL } from '../reading/reader.ts';
import { OWNER, seedVault, writeDeposits } from '../testing/seeded-vault.ts';
import { VIEW_SOURCES } from './row-sources.ts';
import { type BuiltSchema, buildSchema } from './schemas.ts';

// The first half of the rows is of one account, the others of 300.
const ROWS = 20_000;
const FIRST = 50;
const scratch = scratchOfFile({ autovacuum: false });
const EXAMPLE = Buffer.alloc(20, 0x0c);
const LIMITS = { timeoutMs: 60_000, bytesMax: 1_000_000_000, logger: silentLogger() };
let built: BuiltSchema;

beforeAll(async () => {
  await seedVault(scratch.database);
  await writeDeposits(scratch.database, [{ block: 6 }]);
  await scratch.database.query(sql`ANALYZE`);
  await scratch.database.query(
    sql`INSERT INTO contracts.vault_deposit (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract,
       owner, assets, is_first, note, parts)
     SELECT 1, 7 + n / 4, 2, n % 4, now(), transaction_hash, contract,
       CASE WHEN n < ${ROWS} / 2 THEN owner ELSE decode(lpad(to_hex(n % 300), 40, '0'), 'hex') END, n % 100, is_first, note, parts
     FROM contracts.vault_deposit CROSS JOIN generate_series(0, ${ROWS}::int - 1) AS n`,
  );
  const partitioned = await scratch.database.query<{ name: string }>(
    sql`SELECT partrelid::regclass::text AS name FROM pg_partitioned_table
     WHERE pg_get_partkeydef(partrelid) = 'RANGE (chain_id, block_number)'`,
  );
  for (const { name } of partitioned) await createPartitions(scratch.database, name, parseChainId(1), [1_000]);
  // Several of their indexes begin with the same key: only rows show which one is chosen.
  await scratch.database.query(
    sql`INSERT INTO logs SELECT analytics.wallet_key(${EXAMPLE}::bytea), 1, n, 0, 0, '\\x01', ${EXAMPLE}::bytea, '\\x02', NULL, NULL, NULL, '\\x'
     FROM generate_series(1, 5000) AS n`,
  );
  await scratch.database.query(
    sql`INSERT INTO nft_transfers SELECT analytics.collection_key(${EXAMPLE}::bytea), 1, n, 0, 0, 0, 0, ${EXAMPLE}::bytea, n, NULL, ${EXAMPLE}::bytea, ${EXAMPLE}::bytea, 1, NULL, '\\x01'
     FROM generate_series(1, 5000) AS n`,
  );
  await scratch.database.query(sql`ANALYZE logs, nft_transfers`);
  const tables = await scratch.database.query<{ oid: string }>(
    sql`SELECT oid::text AS oid FROM pg_class WHERE relnamespace IN ('contracts'::regnamespace, 'analytics'::regnamespace) AND relkind IN ('p', 'v')`,
  );
  built = await inSnapshot(await scratch.database.pool.connect(), LIMITS, (withClient) =>
    buildSchema(
      withClient,
      tables.map(({ oid }) => oid),
      createChainRegistry(),
    ),
  );
});

interface Ran {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Returns the statement of a query with one list, and the end of its page. */
async function statementOf(query: string): Promise<Ran & { readonly endCursor: string | null }> {
  const { statements, endCursor } = await statementsOf(query);
  const [statement, ...others] = statements;
  expect(others).toEqual([]);
  if (statement === undefined) throw new RangeError('The query ran no statement');
  return { ...statement, endCursor };
}

async function statementsOf(
  query: string,
): Promise<{ readonly statements: readonly Ran[]; readonly endCursor: string | null }> {
  const statements: Ran[] = [];
  const operation = checkOperation(built.schema, parseOperation({ query }));
  const wanted = { document: operation.document, operationName: null, variables: {} };
  const { data, errors } = await inSnapshot(await scratch.database.pool.connect(), LIMITS, (withClient) =>
    runQuery(
      built,
      wanted,
      (settings, callback) =>
        withClient(settings, (client) =>
          callback({
            ...client,
            query(statement) {
              statements.push({ text: statement.text, values: statement.values ?? [] });
              return client.query(statement);
            },
          }),
        ),
      silentLogger(),
    ),
  );
  expect(errors).toBeUndefined();
  const [page] = Object.values(data ?? {}) as { pageInfo?: { endCursor: string | null } }[];
  return { statements, endCursor: page?.pageInfo?.endCursor ?? null };
}

/** Returns the database with the settings of the reader in each transaction. */
function asReader(database: Database): Database {
  return {
    ...database,
    transaction: (work) =>
      database.transaction(async (transaction) => {
        await transaction.query(rawSql(PLANNER_SQL));
        return work(transaction);
      }),
  };
}

const PARTITION = 'vault_deposit_1_minvalue';

/** Indexes of partitions are named after their columns. */
const indexedBy = (scan: PlanNode): string | undefined =>
  scan['Index Name']?.replace(`${PARTITION}_`, '').replace(/_chain_id.*/, '');

const deposits = (args: string): string =>
  `{ contracts_vault_deposit(chain: 1, first: ${FIRST}, ${args}) { nodes { block_number note } pageInfo { hasNextPage endCursor } } }`;

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each([
    ['the newest rows', 'pkey', 'order: DESC'],
    ['the oldest rows', 'pkey', 'order: ASC'],
    ['rows within blocks', 'pkey', 'from_block: 1000, to_block: 3000'],
    // Newer rows are of others.
    ['an account with many rows', 'owner', `where: { owner: "${OWNER}" }`],
    ['its rows within blocks', 'owner', `where: { owner: "${OWNER}" }, from_block: 500, to_block: 1000`],
    ['an account with few rows', 'owner', `where: { owner: "0x${'00'.repeat(19)}07" }, order: ASC`],
    ['an account without rows', 'owner', `where: { owner: "0x${'ee'.repeat(20)}" }`],
    ['a number', 'assets', 'where: { assets: 77 }'],
  ])('of %s is an index range that stops after a page', async (_name, index, args) => {
    const first = await statementOf(deposits(args));
    const pages = [
      first,
      ...(first.endCursor === null ? [] : [await statementOf(deposits(`${args}, after: "${first.endCursor}"`))]),
    ];
    for (const statement of pages) {
      const { nodes } = await explain(asReader(scratch.database), statement, plan);
      const scans = nodes.filter((node) => node['Relation Name'] === PARTITION);
      expect(scans.map(indexedBy)).toEqual([index]);
      expect(rowsRead(nodes, 'vault_deposit')).toBeLessThanOrEqual(FIRST + 1);
    }
  });
});

describe.each(PLANS)('with conditions or an order, the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each([
    ['a column without index', 'pkey', 'where: { is_first: true }', FIRST + 1],
    [
      'a column next to the one with an index',
      'owner',
      `where: { owner: "${OWNER}", is_first: true }`,
      FIRST + 1,
    ],
    ['several accounts', 'owner', `in: { owner: ["${OWNER}", "0x${'00'.repeat(19)}07"] }`, 2 * (FIRST + 1)],
    // Rows without a value would follow.
    ['the order of an index', 'assets', 'orderBy: assets', FIRST + 1],
    [
      'the order of an index, within bounds',
      'assets',
      'orderBy: assets, range: { assets: { lt: "50" } }',
      FIRST + 1,
    ],
  ])('of %s stops after a page', async (_name, index, args, rowsMax) => {
    const first = await statementOf(deposits(args));
    for (const statement of [first, await statementOf(deposits(`${args}, after: "${first.endCursor}"`))]) {
      const { nodes } = await explain(asReader(scratch.database), statement, plan);
      const scans = nodes.filter((node) => node['Relation Name'] === PARTITION);
      expect(new Set(scans.map(indexedBy))).toEqual(new Set([index]));
      expect(rowsRead(nodes, 'vault_deposit')).toBeLessThanOrEqual(rowsMax);
    }
  });
});

describe.each(PLANS)('with more statements, the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  // Each statement reads the index of the condition: 100 accounts and numbers have equally many rows.
  test.each([
    ['rows within bounds', 'assets', 'range: { assets: { lt: "3" } }', 700],
    [
      'the order of a column without index',
      'owner',
      `where: { owner: "0x${'00'.repeat(19)}07" }, orderBy: is_first`,
      100,
    ],
    ['the order of another index', 'owner', `where: { owner: "0x${'00'.repeat(19)}07" }, orderBy: assets`, 100],
    [
      'the order of a column without index, within blocks',
      'pkey',
      'from_block: 100, to_block: 120, orderBy: note',
      100,
    ],
  ])('of %s reads one range', async (_name, index, args, rowsMax) => {
    const query = deposits(args).replace('{ nodes', '{ totalCount { count } nodes');
    const { statements } = await statementsOf(query);
    expect(statements.length).toBe(3);
    for (const statement of statements) {
      const { nodes } = await explain(asReader(scratch.database), statement, plan);
      const scans = nodes.filter((node) => node['Relation Name'] === PARTITION);
      expect(scans.map(indexedBy)).toEqual([index]);
      expect(rowsRead(nodes, 'vault_deposit')).toBeLessThanOrEqual(rowsMax);
    }
  });
});

/** A value for each finder: 32 bytes for hashes. */
const exampleOf = (name: string): string => `0x${'0c'.repeat(name.endsWith('_hash') ? 32 : 20)}`;
const VIEW_LISTS = [...VIEW_SOURCES].flatMap(([view, { finders }]) =>
  finders.length === 0 ? [[view, ''] as const] : finders.map(({ name }) => [view, name] as const),
);

test.each(VIEW_LISTS)('the view %s is read by the index of %s', async (view, finder) => {
  const where = finder === '' ? '' : `, where: { ${finder}: "${exampleOf(finder)}" }`;
  const statement = await statementOf(
    `{ analytics_${view}(chain: 1${where}) { nodes { chain_id } pageInfo { hasNextPage } } }`,
  );
  const literals = statement.values.map((value) => `'${String(value)}'`);
  const text = statement.text.replaceAll(/\$(\d+)/g, (_match, place) => literals[Number(place) - 1] ?? 'NULL');
  const lines = await scratch.database.transaction(async (transaction) => {
    await transaction.query(rawSql(PLANNER_SQL));
    return transaction.query<{ 'QUERY PLAN': string }>(sql`EXPLAIN ${rawSql(text)}`);
  });
  const shown = lines.map((line) => line['QUERY PLAN']).join('\n');
  expect(shown).toMatch(/Index Cond/);
  expect(shown).not.toMatch(/Seq Scan/);
  // Rows come in the order of the index. Without rows, all indexes that begin with the key of a collection look equal.
  if (view !== 'nft_trades' || finder !== 'token_address')
    expect(shown).not.toMatch(/^ *(?:-> +)?(?:Incremental )?Sort\b(?! Key)/m);
});

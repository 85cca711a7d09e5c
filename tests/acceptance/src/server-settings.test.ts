/** Rows and responses over a scripted chain, in databases whose settings differ (ALTER DATABASE … SET). */
import { randomBytes } from 'node:crypto';
import { createChainRegistry } from '@chainstead/chains';
import { silentLogger } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import { migrate, openDatabase } from '@chainstead/db/server';
import { openSqlReader } from '@chainstead/mcp';
import { createScratchDatabase, createScriptedChain, serveScriptedChain } from '@chainstead/testkit';
import { createApiUnderTest, readWallet } from 'chainstead/src/testing/api-under-test.ts';
import { expect, test } from 'vitest';
import { indexFresh } from './indexed-chain.ts';

const CHAIN_ID = 1_337_041;
const CHAIN = {
  key: 'scripted',
  id: CHAIN_ID,
  headerHash: true,
  proofPolicy: 'strict',
  pollIntervalMs: 20,
} as const;
const BLOCKS = 30;
const chain = createScriptedChain({ seed: 41, chainId: CHAIN_ID });
chain.mine(BLOCKS);
const [wallet = ''] = chain.wallets;

/** Rows, a page of the API and rows of the SQL tool, of a database with these settings from the first migration on. */
async function everythingWith(settings: readonly string[]) {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase({ migrated: false }), (one) => one.drop());
  const name = new URL(scratch.url).pathname.slice(1);
  for (const setting of settings)
    await scratch.database.query(sql`ALTER DATABASE ${rawSql(name)} SET ${rawSql(setting)}`);
  const options = { applicationName: 'settings', prepared: true, logger: silentLogger() };
  const database = parts.adopt(openDatabase({ url: scratch.url, ...options }), (one) => one.close());
  await migrate(database);
  const role = `settings_${randomBytes(6).toString('hex')}`;
  await database.query(sql`CREATE ROLE ${rawSql(role)} LOGIN PASSWORD 'secret' IN ROLE chainstead_reader`);
  parts.defer(async () => void (await database.query(sql`DROP ROLE ${rawSql(role)}`)));
  const node = parts.adopt(await serveScriptedChain(chain), (one) => one.close());
  const chains = createChainRegistry({ additional: [CHAIN] });
  await indexFresh({ chain: chains.get(CHAIN_ID), url: node.url, database, from: 0, to: BLOCKS });
  const readerUrl = Object.assign(new URL(scratch.url), { username: role, password: 'secret' }).href;
  const reader = openSqlReader({ url: readerUrl, logger: silentLogger() });
  const statement =
    'SELECT block_time, wallet_bytes, amount, amount / 3.0 AS third FROM wallet_transfers ORDER BY block_number, log_index, direction LIMIT 100';
  return {
    rows: await rowsOf(database),
    timeouts: await database.query(
      sql`SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_session_timeout') ORDER BY name`,
    ),
    responses: await readWallet(await createApiUnderTest(database, chains), 'scripted', wallet),
    sql: (await reader.read(statement, { key: 'one' })).rows,
  };
}

async function rowsOf(database: Database) {
  const tables = ['blocks', 'erc20_transfer_sides', 'sync_ranges'];
  const read = (table: string) =>
    database.query(
      sql`SELECT to_jsonb(kept) - 'updated_at' - 'covered_at' AS row FROM ${rawSql(table)} AS kept ORDER BY kept::text`,
    );
  return Promise.all(tables.map(read));
}

// Invariant: DB-SESSION-SETTINGS
test.each([
  [
    'forms of values',
    [
      ...["datestyle = 'German, DMY'", "intervalstyle = 'sql_standard'", "timezone = 'Asia/Kolkata'"],
      ...["bytea_output = 'escape'", 'extra_float_digits = -10', 'quote_all_identifiers = on'],
      ...["xmlbinary = 'hex'", "client_encoding = 'LATIN1'", "lc_messages = 'C'"],
    ],
  ],
  [
    'meanings of statements',
    [
      ...["search_path = 'analytics'", 'standard_conforming_strings = off', 'backslash_quote = off'],
      ...['transform_null_equals = on', 'array_nulls = off', 'row_security = off', 'check_function_bodies = off'],
      ...["default_transaction_isolation = 'serializable'", 'default_transaction_deferrable = on'],
      ...['gin_fuzzy_search_limit = 1', "default_text_search_config = 'german'"],
    ],
  ],
  [
    'times and plans',
    [
      ...["statement_timeout = '20s'", "lock_timeout = '20s'", "idle_in_transaction_session_timeout = '20s'"],
      ...["idle_session_timeout = '20s'", 'enable_indexscan = off', 'enable_nestloop = off', 'enable_sort = off'],
      ...['enable_seqscan = off', 'enable_mergejoin = off', 'enable_hashjoin = off', "plan_cache_mode = 'auto'"],
      ...['jit_above_cost = 0', "client_min_messages = 'debug5'", 'enable_partition_pruning = off'],
    ],
  ],
])('other %s change neither rows nor responses', async (_name, settings) => {
  expect(await everythingWith(settings)).toEqual(await usual);
});

const usual = everythingWith([]);
// Each test awaits it: a failure before the first one must not be an unhandled rejection.
usual.catch(() => {});

import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { sql } from './sql.ts';

/**
 * Tables whose key does not begin with a wallet or contract. For the placement of tables on Citus, see
 * citus/table-placements.ts.
 */
const KEYED_OTHERWISE = new Set([
  'api_keys',
  'api_usage',
  'audit_log',
  'chain_metrics_minutely',
  'console_sessions',
  'aptos_networks',
  'aptos_ranges',
  'aptos_roots',
  'blocks',
  'candle_spans',
  'contract_definitions',
  'removed_contract_tables',
  'dataset_failures',
  'projections',
  'gateway_answers',
  'gateway_filters',
  'gateway_heads',
  'gateway_usage',
  'head_reports',
  'leases',
  'list_revisions',
  'transaction_locks',
  'inflight_work',
  'range_jobs',
  'rate_limit_usage',
  'resolved_names',
  'schema_migrations',
  'deferred_matches',
  'historical_jobs',
  'server_secrets',
  'state_questions',
  'stream_addresses',
  'stream_attempts',
  'stream_deliveries',
  'stream_items',
  'stream_match_transactions',
  'stream_matches',
  'stream_settings',
  'stream_stats',
  'streams',
  'streams_version',
  'backfill_requests',
  'rewritten_ranges',
  'subject_ranges',
  'quarantined_work',
  'table_sizes_hourly',
  'sync_chains',
  'sync_claims',
  'sync_ranges',
  'gateway_calls',
  'upstream_calls',
  'upstream_errors',
  'wallet_scan_state',
  'tracked_wallets',
  'webhook_health',
  'webhook_host_leases',
  'upstream_mismatches',
]);

/** Tables without chains, or whose rows have their own identity (all are local). */
const CHAINLESS_TABLES = new Set([
  'removed_contract_tables',
  'api_keys',
  'api_usage',
  'audit_log',
  'chain_metrics_minutely',
  'console_sessions',
  'head_reports',
  'historical_jobs',
  'imported_signatures',
  'leases',
  'list_revisions',
  'transaction_locks',
  'inflight_work',
  'range_jobs',
  'rate_limit_usage',
  'resolved_names',
  'schema_migrations',
  'server_secrets',
  'stream_addresses',
  'stream_attempts',
  'stream_deliveries',
  'stream_settings',
  'stream_stats',
  'streams',
  'streams_version',
  'quarantined_work',
  'table_sizes_hourly',
  'upstream_calls',
  'webhook_health',
  'webhook_host_leases',
  'upstream_mismatches',
]);

/** The column with the address or hash of a numeric key, if its name differs. */
const ADDRESS_OF_KEY: Readonly<Record<string, string>> = {
  block_key: 'block_hash',
  collection_key: 'token_address',
  transaction_key: 'transaction_hash',
};

describe('the schema can be distributed on Citus', () => {
  const scratch = scratchOfFile();
  let keys: Map<string, string[]>;

  beforeAll(async () => {
    const rows = await scratch.database.query<{ tableName: string; columns: string[] | null }>(
      sql`SELECT c.relname AS table_name,
              (SELECT array_agg(a.attname::text ORDER BY k.position)
               FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, position)
               JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
               WHERE i.indrelid = c.oid AND i.indisprimary AND a.attrelid = i.indrelid) AS columns
       FROM pg_class c
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`,
    );
    keys = new Map(rows.map(({ tableName, columns }) => [tableName, columns ?? []]));
  });

  test('the catalog has the tables that these rules are about', () => {
    expect([...keys.keys()]).toEqual(
      expect.arrayContaining([...KEYED_OTHERWISE, 'erc20_transfer_sides', 'tokens']),
    );
  });

  test('every table has a primary key', () => {
    expect([...keys].filter(([, columns]) => columns.length === 0)).toEqual([]);
  });

  test('a table of wallets or contracts has the address first in its key, or the number that is made of it', async () => {
    expect(keys.get('erc20_transfer_sides')?.[0]).toBe('account_key');
    expect(keys.get('nft_transfers')?.[0]).toBe('collection_key');
    expect(keys.get('nft_trades')?.[0]).toBe('collection_key');
    expect(keys.get('transactions')?.[0]).toBe('transaction_key');
    expect(keys.get('account_transactions')?.[0]).toBe('account_key');
    expect(keys.get('block_headers')?.[0]).toBe('block_key');
    expect(keys.get('logs')?.[0]).toBe('address_key');
    expect(keys.get('internal_transfers')?.[0]).toBe('account_key');
    expect(keys.get('tokens')?.[0]).toBe('address');
    const types = await scratch.database.query<{ tableName: string; columnName: string; dataType: string }>(
      sql`SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    const firstKeys = [...keys]
      .filter(([table]) => !KEYED_OTHERWISE.has(table))
      .map(([table, [first]]) => `${table}.${first}`);
    const notAddresses = types
      .filter(({ dataType, columnName }) => dataType !== (columnName.endsWith('_key') ? 'bigint' : 'bytea'))
      .map(({ tableName, columnName }) => `${tableName}.${columnName}`);
    expect(firstKeys.filter((column) => notAddresses.includes(column))).toEqual([]);
    // The address of a numeric key must be in the row too. Trades are rows of `swaps`, by the same key.
    const columns = new Set(types.map(({ tableName, columnName }) => `${tableName}.${columnName}`));
    const numbers = [...keys].flatMap(([table, [first = '']]) =>
      first.endsWith('_key') ? [{ table, first }] : [],
    );
    const addresses = numbers.map(
      ({ table, first }) => `${table}.${ADDRESS_OF_KEY[first] ?? first.slice(0, -'_key'.length)}`,
    );
    expect(addresses.filter((column) => !columns.has(column))).toEqual(['trades.pool']);
    expect(keys.get('trades')).toEqual(keys.get('swaps'));
  });

  test('the chain is in the key of everything that belongs to one', () => {
    const without = [...keys].filter(
      ([table, columns]) =>
        !CHAINLESS_TABLES.has(table) && !columns.includes('chain_id') && !columns.includes('network'),
    );
    expect(without).toEqual([]);
  });

  test('no foreign keys, no triggers', async () => {
    const found = await scratch.database.query(
      sql`SELECT conrelid::regclass::text AS table_name, conname AS name FROM pg_constraint
       WHERE contype = 'f' AND connamespace = 'public'::regnamespace
       UNION ALL
       SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal`,
    );
    expect(found).toEqual([]);
  });

  test('no query can read by a GiST index', async () => {
    const indexes = await scratch.database.query<{ name: string; predicate: string | null }>(
      sql`SELECT i.indexrelid::regclass::text AS name, pg_get_expr(i.indpred, i.indrelid) AS predicate
         FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
        WHERE m.amname = 'gist' AND c.relnamespace = 'public'::regnamespace`,
    );
    expect(indexes).not.toEqual([]);
    const readable = indexes.filter(
      ({ predicate }) => !/^\(\(last_\w+ - first_\w+\) >= 0\)$/.test(predicate ?? ''),
    );
    expect(readable).toEqual([]);
  });

  test('no serial or identity columns, no sequences', async () => {
    const found = await scratch.database.query(
      sql`SELECT attrelid::regclass::text AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       WHERE c.relnamespace = 'public'::regnamespace AND attidentity <> ''
       UNION ALL
       SELECT relname FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace`,
    );
    expect(found).toEqual([]);
  });
});

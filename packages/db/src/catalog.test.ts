import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Tables that are not of a wallet or a contract. Where each table lies on Citus: citus/table-placements.ts. */
const KEYED_OTHERWISE = new Set([
  'api_keys',
  'api_usage',
  'audit_log',
  'chain_samples',
  'console_sessions',
  'aptos_networks',
  'aptos_ranges',
  'aptos_roots',
  'blocks',
  'derived_states',
  'gateway_answers',
  'gateway_filters',
  'gateway_heads',
  'gateway_usage',
  'leases',
  'list_revisions',
  'locks',
  'process_work',
  'range_jobs',
  'rate_spending',
  'resolved_names',
  'schema_migrations',
  'historical_jobs',
  'server_secrets',
  'state_questions',
  'stream_addresses',
  'stream_attempts',
  'stream_deliveries',
  'stream_match_transactions',
  'stream_matches',
  'stream_settings',
  'stream_stats',
  'streams',
  'streams_version',
  'subject_histories',
  'subject_ranges',
  'suspect_work',
  'table_samples',
  'sync_chains',
  'sync_claims',
  'sync_ranges',
  'gateway_calls',
  'upstream_calls',
  'upstream_faults',
  'wallet_watches',
  'asked_wallets',
  'webhook_health',
  'webhook_host_leases',
  'wrong_answers',
]);

/** Tables that know no chain, or whose rows have an identity of their own (local ones all). */
const CHAINLESS_TABLES = new Set([
  'api_keys',
  'api_usage',
  'audit_log',
  'chain_samples',
  'console_sessions',
  'historical_jobs',
  'imported_signatures',
  'leases',
  'list_revisions',
  'locks',
  'process_work',
  'range_jobs',
  'rate_spending',
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
  'suspect_work',
  'table_samples',
  'upstream_calls',
  'webhook_health',
  'webhook_host_leases',
  'wrong_answers',
]);

/** The address or hash that a number stands for, where it has another name. */
const ADDRESS_OF_KEY: Readonly<Record<string, string>> = {
  block_key: 'block_hash',
  collection_key: 'token_address',
  transaction_key: 'transaction_hash',
};

describe('the schema can be distributed on Citus', () => {
  let scratch: ScratchDatabase;
  let keys: Map<string, string[]>;

  beforeAll(async () => {
    scratch = await createScratchDatabase();
    const rows = await scratch.database.query<{ table_name: string; columns: string[] | null }>(
      `SELECT c.relname AS table_name,
              (SELECT array_agg(a.attname::text ORDER BY k.position)
               FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, position)
               JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
               WHERE i.indrelid = c.oid AND i.indisprimary AND a.attrelid = i.indrelid) AS columns
       FROM pg_class c
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`,
    );
    keys = new Map(rows.map(({ table_name, columns }) => [table_name, columns ?? []]));
  });
  afterAll(() => scratch.drop());

  test('the catalog has the tables that these rules are about', () => {
    expect([...keys.keys()]).toEqual(expect.arrayContaining([...KEYED_OTHERWISE, 'erc20_transfers', 'tokens']));
  });

  test('every table has a primary key', () => {
    expect([...keys].filter(([, columns]) => columns.length === 0)).toEqual([]);
  });

  test('a table of wallets or contracts has the address first in its key, or the number that is made of it', async () => {
    expect(keys.get('erc20_transfers')?.[0]).toBe('account_key');
    expect(keys.get('nft_transfers')?.[0]).toBe('collection_key');
    expect(keys.get('nft_trades')?.[0]).toBe('collection_key');
    expect(keys.get('transactions')?.[0]).toBe('transaction_key');
    expect(keys.get('account_transactions')?.[0]).toBe('account_key');
    expect(keys.get('block_headers')?.[0]).toBe('block_key');
    expect(keys.get('logs')?.[0]).toBe('address_key');
    expect(keys.get('internal_transfers')?.[0]).toBe('account_key');
    expect(keys.get('tokens')?.[0]).toBe('address');
    const types = await scratch.database.query<{ table_name: string; column_name: string; data_type: string }>(
      `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    const firstKeys = [...keys]
      .filter(([table]) => !KEYED_OTHERWISE.has(table))
      .map(([table, [first]]) => `${table}.${first}`);
    const notAddresses = types
      .filter(({ data_type, column_name }) => data_type !== (column_name.endsWith('_key') ? 'bigint' : 'bytea'))
      .map(({ table_name, column_name }) => `${table_name}.${column_name}`);
    expect(firstKeys.filter((column) => notAddresses.includes(column))).toEqual([]);
    // A number stands for an address that the row has too.
    const columns = new Set(types.map(({ table_name, column_name }) => `${table_name}.${column_name}`));
    const numbers = [...keys].flatMap(([table, [first = '']]) => (first.endsWith('_key') ? [{ table, first }] : []));
    const addresses = numbers.map(
      ({ table, first }) => `${table}.${ADDRESS_OF_KEY[first] ?? first.slice(0, -'_key'.length)}`,
    );
    expect(addresses.filter((column) => !columns.has(column))).toEqual([]);
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
      `SELECT conrelid::regclass::text AS table_name, conname AS name FROM pg_constraint
       WHERE contype = 'f' AND connamespace = 'public'::regnamespace
       UNION ALL
       SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal`,
    );
    expect(found).toEqual([]);
  });

  test('no serial or identity columns, no sequences', async () => {
    const found = await scratch.database.query(
      `SELECT attrelid::regclass::text AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       WHERE c.relnamespace = 'public'::regnamespace AND attidentity <> ''
       UNION ALL
       SELECT relname FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace`,
    );
    expect(found).toEqual([]);
  });
});

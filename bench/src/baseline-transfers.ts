import type { Database } from '@chainstead/db';

const SCHEMA = 'baseline';

/**
 * Transfers once more as the baseline knows them: one table, rows with the hash and the time of their block, its own indexes.
 * @returns the database's URL for the baseline, which finds them in place of the program's
 */
export async function fillBaselineTransfers(database: Database, databaseUrl: string): Promise<string> {
  const table = `${SCHEMA}.erc20_transfers`;
  await database.query(`CREATE SCHEMA ${SCHEMA}`);
  // It looks for what was migrated in the first schema alone.
  await database.query(`CREATE TABLE ${SCHEMA}.schema_migrations AS TABLE public.schema_migrations`);
  await database.query(`CREATE TABLE ${table} AS
    SELECT account, chain_id, block_number::bigint, transaction_index, log_index, direction, token, counterparty, value, transaction_hash,
      block_hash, block_timestamp
    FROM erc20_transfers AS transfer JOIN blocks USING (chain_id, block_number) ORDER BY transfer.tableoid, transfer.ctid`);
  await database.query(
    `ALTER TABLE ${table} ADD PRIMARY KEY (account, chain_id, block_number, transaction_index, log_index)`,
  );
  await database.query(
    `CREATE INDEX erc20_transfers_by_token ON ${table} (account, chain_id, token, block_number, transaction_index, log_index)`,
  );
  await database.query(`VACUUM ANALYZE ${table}`);
  const url = new URL(databaseUrl);
  url.searchParams.set('options', `-c search_path=${SCHEMA},public`);
  return url.href;
}

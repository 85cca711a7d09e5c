import type { Database } from '@chainstead/db';

const SCHEMA = 'baseline';

/**
 * Transfers once more as the baseline knows them: one table, rows with the hash and the time of their block, its own indexes.
 * @returns the database's URL for the baseline, which finds them in place of the program's
 */
export function fillBaselineTransfers(database: Database, databaseUrl: string): Promise<string> {
  return fillBaselineTable(database, databaseUrl, {
    table: 'erc20_transfers',
    columns: `account, chain_id, block_number::bigint, transaction_index, log_index, direction, token, counterparty, value, transaction_hash,
      block_hash, block.block_timestamp`,
    key: 'account, chain_id, block_number, transaction_index, log_index',
    indexes: { by_token: '(account, chain_id, token, block_number, transaction_index, log_index)' },
  });
}

const PLACE = 'block_number, transaction_index, log_index, item';

/**
 * The same of trades, whose rows have all ids and amounts as well.
 * @returns the database's URL for the baseline
 */
export function fillBaselineTrades(database: Database, databaseUrl: string): Promise<string> {
  return fillBaselineTable(database, databaseUrl, {
    table: 'nft_trades',
    columns: `token_address, chain_id, block_number::bigint, transaction_index, log_index, item, leads, token_id,
      coalesce(token_ids, ARRAY[token_id]) AS token_ids, coalesce(amounts, '{1}') AS amounts, marketplace, protocol, marketplace_address, seller,
      buyer, side, payment_token, price, collections, transaction_hash, block_hash, block.block_timestamp`,
    key: `token_address, chain_id, ${PLACE}`,
    indexes: {
      by_token: `(token_address, chain_id, token_id, ${PLACE})`,
      by_marketplace: `(token_address, chain_id, marketplace, ${PLACE}) WHERE leads`,
      by_seller: `(seller, chain_id, ${PLACE}) WHERE leads`,
      by_buyer: `(buyer, chain_id, ${PLACE}) WHERE leads`,
    },
  });
}

interface BaselineTable {
  readonly table: string;
  /** From the program's row and its `block`. */
  readonly columns: string;
  readonly key: string;
  readonly indexes: Readonly<Record<string, string>>;
}

async function fillBaselineTable(
  database: Database,
  databaseUrl: string,
  { table: name, columns, key, indexes }: BaselineTable,
): Promise<string> {
  const table = `${SCHEMA}.${name}`;
  await database.query(`CREATE SCHEMA ${SCHEMA}`);
  // It looks for what was migrated in the first schema alone.
  await database.query(`CREATE TABLE ${SCHEMA}.schema_migrations AS TABLE public.schema_migrations`);
  await database.query(`CREATE TABLE ${table} AS
    SELECT ${columns} FROM ${name} AS present JOIN blocks AS block USING (chain_id, block_number) ORDER BY present.tableoid, present.ctid`);
  await database.query(`ALTER TABLE ${table} ADD PRIMARY KEY (${key})`);
  for (const [index, definition] of Object.entries(indexes))
    await database.query(`CREATE INDEX ${name}_${index} ON ${table} ${definition}`);
  await database.query(`VACUUM ANALYZE ${table}`);
  const url = new URL(databaseUrl);
  url.searchParams.set('options', `-c search_path=${SCHEMA},public`);
  return url.href;
}

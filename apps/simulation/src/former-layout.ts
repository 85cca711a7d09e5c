/** Puts transfers back to where versions before the partitions had them: what a program finds that was upgraded while it was down. */
import type { Database } from '@chainstead/db';

interface FormerLayout {
  readonly table: string;
  /** Where the rows are now. */
  readonly present: string;
  /** Of the former table, as the migration that replaced it left them. */
  readonly columns: string;
  readonly key: string;
  /** The view of both tables. */
  readonly all: string;
  /** The present columns, in the order of the view, from those of the former table. */
  readonly shown: string;
  /** Of columns that rows don't have as they were: SQL over the present row, `moved`. */
  readonly restored?: Readonly<Record<string, string>>;
}

const PLACE =
  'chain_id bigint NOT NULL, block_number bigint NOT NULL, transaction_index integer NOT NULL, log_index integer NOT NULL';
const BLOCK = 'transaction_hash bytea NOT NULL, block_hash bytea NOT NULL, block_timestamp timestamptz NOT NULL';

const LAYOUTS: readonly FormerLayout[] = [
  {
    table: 'erc20_transfers_unpartitioned',
    present: 'erc20_transfers',
    columns: `account bytea NOT NULL, ${PLACE}, direction smallint NOT NULL, token bytea NOT NULL, counterparty bytea NOT NULL,
      value numeric(78,0) NOT NULL, ${BLOCK}`,
    key: 'account, chain_id, block_number, transaction_index, log_index',
    all: 'erc20_transfers_all',
    shown: `address_key(account), chain_id, block_number::integer, transaction_index, log_index, direction, account, token, counterparty,
      value, transaction_hash`,
  },
  {
    table: 'nft_transfers_unpartitioned',
    present: 'nft_transfers',
    columns: `token_address bytea NOT NULL, ${PLACE}, item integer NOT NULL, kind smallint NOT NULL, token_id numeric(78,0) NOT NULL,
      last_token_id numeric(78,0), from_address bytea NOT NULL, to_address bytea NOT NULL, amount numeric(78,0) NOT NULL, operator bytea, ${BLOCK}`,
    key: 'token_address, chain_id, block_number, transaction_index, log_index, item',
    all: 'nft_transfers_all',
    shown: `address_key(token_address), chain_id, block_number::integer, transaction_index, log_index, item, kind, token_address, token_id,
      last_token_id, from_address, to_address, amount, operator, transaction_hash`,
  },
  {
    table: 'nft_trades_unpartitioned',
    present: 'nft_trades',
    columns: `token_address bytea NOT NULL, ${PLACE}, item integer NOT NULL, leads boolean NOT NULL, token_id numeric(78,0) NOT NULL,
      token_ids numeric(78,0)[] NOT NULL, amounts numeric(78,0)[] NOT NULL, marketplace text NOT NULL, protocol text NOT NULL,
      marketplace_address bytea NOT NULL, seller bytea NOT NULL, buyer bytea NOT NULL, side smallint NOT NULL, payment_token bytea, price numeric,
      collections smallint NOT NULL, ${BLOCK}`,
    key: 'token_address, chain_id, block_number, transaction_index, log_index, item',
    all: 'nft_trades_all',
    shown: `address_key(token_address), chain_id, block_number::integer, transaction_index, log_index, item, block_timestamp, side, collections,
      leads, token_address, token_id, nullif(token_ids, ARRAY[token_id]), nullif(amounts, '{1}'), marketplace, protocol, marketplace_address,
      seller, buyer, payment_token, price, transaction_hash`,
    restored: {
      token_ids: 'coalesce(token_ids, ARRAY[token_id])',
      amounts: "coalesce(amounts, '{1}')",
      block_timestamp: 'moved.block_timestamp',
    },
  },
];

/** Of each `every` blocks one keeps its rows where they are. Nothing else may be writing. */
export async function backToFormerLayout(database: Database, every: number): Promise<void> {
  for (const { table, present, columns, key, all, shown, restored = {} } of LAYOUTS) {
    await database.query(`CREATE TABLE IF NOT EXISTS ${table} (${columns}, PRIMARY KEY (${key}))`);
    await database.query(
      `CREATE OR REPLACE VIEW ${all} AS SELECT * FROM ${present} UNION ALL SELECT ${shown} FROM ${table}`,
    );
    const names = await columnsOf(database, table);
    await database.query(
      `WITH moved AS (DELETE FROM ${present} WHERE block_number % $1 <> 0 RETURNING *)
       INSERT INTO ${table} (${names.join(', ')}) SELECT ${names.map((name) => restored[name] ?? name).join(', ')} FROM moved JOIN blocks USING (chain_id, block_number)`,
      [every],
    );
  }
}

async function columnsOf(database: Database, table: string): Promise<readonly string[]> {
  const columns = await database.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 ORDER BY attnum`,
    [table],
  );
  return columns.map(({ name }) => name);
}

/** Rows that have not been moved yet. */
export async function countFormerRows(database: Database): Promise<number> {
  let rows = 0;
  for (const { table } of LAYOUTS) {
    const [found] = await database.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [table]);
    if (found?.exists !== true) continue;
    const [counted] = await database.query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${table}`);
    rows += counted?.rows ?? 0;
  }
  return rows;
}

import { asSql, type Database, hexBytes, joinSql, type SqlValue, sql } from '@chainstead/db';

type Queryable = Pick<Database, 'query'>;

/** Marks blocks of a dataset as indexed. */
export async function coverBlocks(
  database: Queryable,
  chainId: number,
  dataset: string,
  first: number,
  last: number,
  proof = 'receipts',
): Promise<void> {
  await database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (${chainId}, ${dataset}, ${first}, ${last}, ${proof})`,
  );
}

/** Stores blocks from one to another, each with a hash of its number. @param time Unix seconds of block 0, and of each block */
export async function storeBlocks(
  database: Queryable,
  chainId: number,
  first: number,
  last: number,
  time: { readonly start?: number; readonly seconds?: number } = {},
): Promise<void> {
  const { start = 1_600_000_000, seconds = 12 } = time;
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
      SELECT ${chainId}, number, sha256(number::text::bytea), to_timestamp(${start}::float8 + number * ${seconds}::float8)
        FROM generate_series(${first}::int, ${last}::int) AS number`,
  );
}

/** Stores a token with values of its columns. */
export async function storeToken(
  database: Queryable,
  chainId: number,
  address: string,
  columns: Readonly<Record<string, SqlValue>> = {},
): Promise<void> {
  const row = { address: hexBytes(address), chain_id: chainId, ...columns };
  const values = Object.values(row).map((value) => sql`${value}`);
  await database.query(
    sql`INSERT INTO tokens (${joinSql(Object.keys(row).map(asSql))}) VALUES (${joinSql(values)})`,
  );
}

/** The stored holders of a token, as lines of text for comparison with a model. */
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, type Sql, sql } from '@chainstead/db';

export async function storedHolders(database: Database, chainId: number, token: Address): Promise<string[]> {
  return lines(
    database,
    sql`SELECT concat_ws(' ', '0x' || encode(account, 'hex'), total, moves, coalesce(first_block::text, ''),
       coalesce(first_transaction::text, ''), coalesce(acquired::text, '')) AS line
     FROM erc20_holders WHERE chain_id = ${chainId} AND token = ${addressBytes(token)}`,
  );
}

export async function storedCounts(
  database: Database,
  chainId: number,
  token: Address,
): Promise<string | undefined> {
  const [line] = await lines(
    database,
    sql`SELECT concat_ws(' ', transfers, supply, holders, top_block) AS line FROM erc20_holder_counts WHERE chain_id = ${chainId} AND token = ${addressBytes(token)}`,
  );
  return line;
}

export async function isExact(database: Database, chainId: number, token: Address): Promise<boolean> {
  const [row] = await database.query<{ isExact: boolean }>(
    sql`SELECT is_exact FROM erc20_holder_counts WHERE chain_id = ${chainId} AND token = ${addressBytes(token)}`,
  );
  return row?.isExact ?? true;
}

export async function storedMinutes(database: Database, chainId: number, token: Address): Promise<string[]> {
  return lines(
    database,
    sql`SELECT concat_ws(' ', extract(epoch FROM minute)::bigint / 60, class, came, gone, airdropped) AS line
     FROM erc20_holder_minutes WHERE chain_id = ${chainId} AND token = ${addressBytes(token)}`,
  );
}

async function lines(database: Database, statement: Sql): Promise<string[]> {
  const rows = await database.query<{ line: string }>(statement);
  return rows.map(({ line }) => line).sort();
}

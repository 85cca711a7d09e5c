import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, type Database, type Sql, sql } from '@chainstead/db';

export interface AwaitedRow {
  readonly chainId: ChainId;
  readonly address: Address;
  /** Null: the collection itself. */
  readonly tokenId: string | null;
}

/** Those that are no longer pending. */
export async function settledRows(
  database: Pick<Database, 'query'>,
  awaited: readonly AwaitedRow[],
): Promise<ReadonlyMap<AwaitedRow, true>> {
  const [collections, tokens] = [awaited.filter(isCollection), awaited.filter((row) => !isCollection(row))];
  const keys = (rows: readonly AwaitedRow[]): Sql =>
    sql`${rows.map(({ address }) => addressBytes(address))}::bytea[], ${rows.map(({ chainId }) => chainId)}::bigint[]`;
  const read = async (rows: readonly AwaitedRow[], statement: Sql) =>
    rows.length === 0 ? [] : database.query<{ key: string }>(statement);
  const settled = await Promise.all([
    read(
      collections,
      sql`SELECT chain_id || ':0x' || encode(token_address, 'hex') || ':' AS key FROM nft_collections
       WHERE (token_address, chain_id) IN (SELECT * FROM unnest(${keys(collections)})) AND status <> 'pending'`,
    ),
    read(
      tokens,
      sql`SELECT chain_id || ':0x' || encode(token_address, 'hex') || ':' || token_id AS key FROM nft_token_metadata
       WHERE (token_address, chain_id, token_id) IN (SELECT * FROM unnest(${keys(tokens)}, ${tokens.map(({ tokenId }) => tokenId)}::numeric[]))
         AND status <> 'pending'`,
    ),
  ]);
  const found = new Set(settled.flat().map(({ key }) => key));
  const isSettled = (row: AwaitedRow): boolean => found.has(`${row.chainId}:${row.address}:${row.tokenId ?? ''}`);
  return new Map(awaited.filter(isSettled).map((row) => [row, true] as const));
}

const isCollection = ({ tokenId }: AwaitedRow): boolean => tokenId === null;

import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database, expectedTrue, hexText, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import type { TokenFacts } from '@chainstead/tokens/token-book';

export interface StoredToken extends Omit<TokenFacts, 'isNft'> {
  /** erc20, erc721, erc1155; null: unknown, or not a token. */
  readonly standard: string | null;
  readonly isRead: boolean;
  readonly totalSupply: string | null;
  readonly supplyBlock: number | null;
  readonly isSupplyRecent: boolean;
  readonly createdBlock: number | null;
  readonly createdAt: Date | null;
  readonly isCreationDue: boolean;
}

const SUPPLY_HOURS = 1;
/** Unknown creations are sought again: an archive node may have been added. */
const CREATION_HOURS = 24;

/** A mint that was reorganized away leaves no transfer as evidence. */
const IS_READ_ON_CHAIN = sql`EXISTS (SELECT FROM blocks AS read_at WHERE read_at.chain_id = tokens.chain_id
    AND read_at.block_number = tokens.supply_block AND read_at.block_hash = tokens.supply_block_hash)`;

export const IS_SUPPLY_RECENT = sql`coalesce(supply_read_at > now() - interval '${rawSql(SUPPLY_HOURS)} hours', false) AND (supply_block IS NULL OR ${IS_READ_ON_CHAIN})`;
export const IS_CREATION_DUE = sql`(creation_sought_at IS NULL OR created_block IS NULL AND creation_sought_at < now() - interval '${rawSql(CREATION_HOURS)} hours')`;

const COLUMNS = sql`${hexText('address')} AS address, standard, name, symbol, decimals, facts_status = 'known' AS "isRead", logo, verified,
  possible_spam, total_supply::text, supply_block,
  ${IS_SUPPLY_RECENT} AS "isSupplyRecent", created_block, created_at, ${IS_CREATION_DUE} AS "isCreationDue"`;

export async function getTokens(
  database: Database,
  chain: Chain,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, StoredToken>> {
  const rows = await database.query<StoredToken>(
    sql`SELECT ${COLUMNS} FROM tokens WHERE address = ANY (${addresses.map(addressBytes)}::bytea[]) AND chain_id = ${chain.id}`,
  );
  return new Map(rows.map((row) => [row.address, row]));
}

/** Case-insensitive. Listed tokens first, then those that are not spam. Excludes NFTs. */
export function tokensBySymbolStatement({ id }: Chain, symbols: readonly string[], limit: number): Sql {
  return sql`SELECT ${COLUMNS} FROM tokens
     WHERE chain_id = ${id} AND lower(symbol) = ANY (ARRAY(SELECT lower(symbol) FROM unnest(${symbols}::text[]) AS given (symbol)))
       AND coalesce(standard NOT IN ('erc721', 'erc1155'), true)
     ORDER BY verified DESC, possible_spam, address LIMIT ${limit}`;
}

export async function getTokensBySymbol(
  database: Database,
  chain: Chain,
  symbols: readonly string[],
  limit: number,
): Promise<readonly StoredToken[]> {
  return database.query<StoredToken>(tokensBySymbolStatement(chain, symbols, limit));
}

/** Mints, burns, wraps and unwraps above a block: each has a row of the zero address. */
export function changeAbove(
  { id, wrappedNative }: Pick<Chain, 'id' | 'wrappedNative'>,
  token: Sql,
  since: Sql,
): Sql {
  const ofZero = sql`account_key = ${addressKey(ZERO_ADDRESS)} AND ${expectedTrue(sql`account = ${addressBytes(ZERO_ADDRESS)}::bytea`)}
         AND chain_id = ${id} AND block_number > ${since}`;
  const transfers = sql`SELECT 1 FROM erc20_transfer_sides AS transfer
       WHERE ${ofZero} AND token_key(token) = token_key(${token}) AND ${expectedTrue(sql`token = ${token}`)}`;
  if (wrappedNative === null) return sql`${transfers} LIMIT 1`;
  const isCoin = sql`${token} = ${addressBytes(wrappedNative)}::bytea`;
  return sql`${transfers} UNION ALL SELECT 1 FROM wrapped_coin_moves AS moved WHERE ${isCoin} AND ${ofZero} LIMIT 1`;
}

export function changedSuppliesStatement(
  chain: Chain,
  tokens: readonly { address: Address; since: number }[],
): Sql {
  const addresses = tokens.map(({ address }) => addressBytes(address));
  const blocks = tokens.map(({ since }) => since);
  return sql`SELECT ${hexText('wanted.address')} AS address
     FROM unnest(${addresses}::bytea[], ${blocks}::bigint[]) AS wanted (address, since) CROSS JOIN LATERAL (
       ${changeAbove(chain, sql`wanted.address`, sql`wanted.since`)}) AS change`;
}

export async function getChangedSupplies(
  database: Database,
  chain: Chain,
  tokens: readonly { address: Address; since: number }[],
): Promise<ReadonlySet<Address>> {
  if (tokens.length === 0) return new Set();
  const rows = await database.query<{ address: Address }>(changedSuppliesStatement(chain, tokens));
  return new Set(rows.map(({ address }) => address));
}

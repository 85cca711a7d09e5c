import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import {
  addressBytes,
  type Bind,
  type Database,
  expectedTrueOld,
  hexTextOld,
  rawSql,
  type Statement,
  sql,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';

/** The stored data of a token. */
export interface TokenRow {
  readonly address: Address;
  /** erc20, erc721, erc1155; null: unknown, or not a token. */
  readonly standard: string | null;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly isRead: boolean;
  readonly logo: string | null;
  readonly verified: boolean;
  readonly possibleSpam: boolean;
  /** Base units, decimal digits. */
  readonly totalSupply: string | null;
  readonly supplyBlock: number | null;
  /** Whether it was read within the last hour, at a block that is still canonical. */
  readonly isSupplyRecent: boolean;
  readonly createdBlock: number | null;
  readonly createdAt: Date | null;
  readonly isCreationDue: boolean;
}

/** A supply is read again after this time, even without a mint or burn. */
const SUPPLY_HOURS = 1;
/** If no node could determine a creation: an archive node may have been added since. */
const CREATION_HOURS = 24;

/** A mint that was reorganized away leaves no transfer as evidence. */
const IS_READ_ON_CHAIN = `EXISTS (SELECT FROM blocks AS read_at WHERE read_at.chain_id = tokens.chain_id
    AND read_at.block_number = tokens.supply_block AND read_at.block_hash = tokens.supply_block_hash)`;

/** SQL over a row of `tokens`: see {@link TokenRow}. */
export const IS_SUPPLY_RECENT = `coalesce(supply_read_at > now() - interval '${SUPPLY_HOURS} hours', false) AND (supply_block IS NULL OR ${IS_READ_ON_CHAIN})`;
export const IS_CREATION_DUE = `(creation_sought_at IS NULL OR created_block IS NULL AND creation_sought_at < now() - interval '${CREATION_HOURS} hours')`;

const COLUMNS = `${hexTextOld('address')} AS address, standard, name, symbol, decimals, facts_status = 'known' AS "isRead", logo, verified,
  possible_spam AS "possibleSpam", total_supply::text AS "totalSupply", supply_block AS "supplyBlock",
  ${IS_SUPPLY_RECENT} AS "isSupplyRecent", created_block AS "createdBlock", created_at AS "createdAt", ${IS_CREATION_DUE} AS "isCreationDue"`;

/** Returns the stored ones among the tokens. */
export async function getTokens(
  database: Database,
  chain: Chain,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, TokenRow>> {
  const rows = await database.query<TokenRow>(
    sql`SELECT ${rawSql(COLUMNS)} FROM tokens WHERE address = ANY (${addresses.map(addressBytes)}::bytea[]) AND chain_id = ${chain.id}`,
  );
  return new Map(rows.map((row) => [row.address, row]));
}

/** Tokens with some symbols, case-insensitive: listed ones first, then those that are not spam. Excludes NFTs. */
export function tokensBySymbolStatement(chain: Chain, symbols: readonly string[], limit: number): Statement {
  return {
    text: `SELECT ${COLUMNS} FROM tokens
     WHERE chain_id = $1 AND lower(symbol) = ANY (ARRAY(SELECT lower(symbol) FROM unnest($2::text[]) AS given (symbol)))
       AND coalesce(standard NOT IN ('erc721', 'erc1155'), true)
     ORDER BY verified DESC, possible_spam, address LIMIT $3`,
    values: [chain.id, symbols, limit],
  };
}

export async function getTokensBySymbol(
  database: Database,
  chain: Chain,
  symbols: readonly string[],
  limit: number,
): Promise<readonly TokenRow[]> {
  const { text, values } = tokensBySymbolStatement(chain, symbols, limit);
  return database.query<TokenRow>(text, values);
}

/**
 * SQL for whether a token had a mint, burn, wrapping or unwrapping above a block: each has a row of the zero address.
 * All arguments except the chain and the last one are SQL.
 */
export function changeAbove(
  { wrappedNative }: Pick<Chain, 'wrappedNative'>,
  token: string,
  since: string,
  chainId: string,
  bind: Bind,
): string {
  const ofZero = `account_key = ${bind(addressKey(ZERO_ADDRESS))} AND ${expectedTrueOld(`account = ${bind(addressBytes(ZERO_ADDRESS))}::bytea`)}
         AND chain_id = ${chainId} AND block_number > ${since}`;
  const transfers = `SELECT 1 FROM erc20_transfer_sides AS transfer
       WHERE ${ofZero} AND token_key(token) = token_key(${token}) AND ${expectedTrueOld(`token = ${token}`)}`;
  if (wrappedNative === null) return `${transfers} LIMIT 1`;
  const isCoin = `${token} = ${bind(addressBytes(wrappedNative))}::bytea`;
  return `${transfers} UNION ALL SELECT 1 FROM wrapped_coin_moves AS moved WHERE ${isCoin} AND ${ofZero} LIMIT 1`;
}

/** Tokens with a mint, burn, wrapping or unwrapping above a block. */
export function changedSuppliesStatement(
  chain: Chain,
  tokens: readonly { readonly address: Address; readonly since: number }[],
): Statement {
  const values: unknown[] = [
    tokens.map(({ address }) => addressBytes(address)),
    tokens.map(({ since }) => since),
    chain.id,
  ];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  return {
    text: `SELECT ${hexTextOld('wanted.address')} AS address
     FROM unnest($1::bytea[], $2::bigint[]) AS wanted (address, since) CROSS JOIN LATERAL (
       ${changeAbove(chain, 'wanted.address', 'wanted.since', '$3', bind)}) AS change`,
    values,
  };
}

export async function getChangedSupplies(
  database: Database,
  chain: Chain,
  tokens: readonly { readonly address: Address; readonly since: number }[],
): Promise<ReadonlySet<Address>> {
  if (tokens.length === 0) return new Set();
  const { text, values } = changedSuppliesStatement(chain, tokens);
  return new Set((await database.query<{ address: Address }>(text, values)).map(({ address }) => address));
}

import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Bind, type Database, expectedTrue, hexText, type Statement } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';

/** What is stored of a token. */
export interface TokenRow {
  readonly address: Address;
  /** erc20, erc721, erc1155; null: unknown, or nothing answers there as a token does. */
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
  /** Whether it was read within the last hour, at a block that is still the chain's. */
  readonly isSupplyRecent: boolean;
  readonly createdBlock: number | null;
  readonly createdAt: Date | null;
  readonly isCreationDue: boolean;
}

/** A supply is read again after it, also where no mint or burn was seen. */
const SUPPLY_HOURS = 1;
/** Where no node could tell a creation, somebody may have added an archive node since. */
const CREATION_HOURS = 24;

/** A mint that was reorganised away leaves no transfer that would tell of it. */
const IS_READ_ON_CHAIN = `EXISTS (SELECT FROM blocks AS read_at WHERE read_at.chain_id = tokens.chain_id
    AND read_at.block_number = tokens.supply_block AND read_at.block_hash = tokens.supply_block_hash)`;

/** Of a row of `tokens`, in SQL: see {@link TokenRow}. */
export const IS_SUPPLY_RECENT = `coalesce(supply_read_at > now() - interval '${SUPPLY_HOURS} hours', false) AND (supply_block IS NULL OR ${IS_READ_ON_CHAIN})`;
export const IS_CREATION_DUE = `(creation_sought_at IS NULL OR created_block IS NULL AND creation_sought_at < now() - interval '${CREATION_HOURS} hours')`;

const COLUMNS = `${hexText('address')} AS address, standard, name, symbol, decimals, facts_status = 'known' AS "isRead", logo, verified,
  possible_spam AS "possibleSpam", total_supply::text AS "totalSupply", supply_block AS "supplyBlock",
  ${IS_SUPPLY_RECENT} AS "isSupplyRecent", created_block AS "createdBlock", created_at AS "createdAt", ${IS_CREATION_DUE} AS "isCreationDue"`;

/** Those of the tokens that are known. */
export async function getTokens(
  database: Database,
  chain: Chain,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, TokenRow>> {
  const rows = await database.query<TokenRow>(
    `SELECT ${COLUMNS} FROM tokens WHERE address = ANY ($1::bytea[]) AND chain_id = $2`,
    [addresses.map(addressBytes), chain.id],
  );
  return new Map(rows.map((row) => [row.address, row]));
}

/** Tokens of some symbols, letter case ignored: listed ones first, then those that are no spam. NFTs are none of them. */
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
 * Whether something of a token was minted, burned, wrapped or unwrapped above a block, in SQL: the zero address has its side of each. Arguments but
 * the chain and the last are SQL.
 */
export function changeAbove(
  { wrappedNative }: Pick<Chain, 'wrappedNative'>,
  token: string,
  since: string,
  chainId: string,
  bind: Bind,
): string {
  const ofZero = `account_key = ${bind(addressKey(ZERO_ADDRESS))} AND ${expectedTrue(`account = ${bind(addressBytes(ZERO_ADDRESS))}::bytea`)}
         AND chain_id = ${chainId} AND block_number > ${since}`;
  const transfers = `SELECT 1 FROM erc20_transfers AS transfer
       WHERE ${ofZero} AND token_key(token) = token_key(${token}) AND ${expectedTrue(`token = ${token}`)}`;
  if (wrappedNative === null) return `${transfers} LIMIT 1`;
  const isCoin = `${token} = ${bind(addressBytes(wrappedNative))}::bytea`;
  return `${transfers} UNION ALL SELECT 1 FROM wrapped_coin_moves AS moved WHERE ${isCoin} AND ${ofZero} LIMIT 1`;
}

/** Tokens of which something was minted, burned, wrapped or unwrapped above a block. */
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
    text: `SELECT ${hexText('wanted.address')} AS address
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

/** The label of each address that has one: one made for the chain comes before one for all chains. */
export async function getLabels(
  database: Database,
  chain: Chain,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, string>> {
  const rows = await database.query<{ address: Address; label: string }>(
    `SELECT ${hexText('address')} AS address, label FROM address_labels
     WHERE address = ANY ($1::bytea[]) AND ${expectedTrue('chain_id IN ($2, 0)')} AND label IS NOT NULL
     ORDER BY chain_id = 0 DESC, entity IS NULL DESC, source COLLATE "C" DESC`,
    [addresses.map(addressBytes), chain.id],
  );
  return new Map(rows.map(({ address, label }) => [address, label]));
}

import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database, expectedTrue, hexText, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import type { ReadingContext } from '@chainstead/node-reads/requests';
import { coverage, getLabels, type Indexed, type IndexedColumns, readIndexed } from '@chainstead/pages';
import { readTokenFacts, seekTokenCreations } from '@chainstead/tokens/requests';
import type { TokenFacts } from '@chainstead/tokens/token-book';
import { erc20Transfers } from '../transfers/dataset.ts';

export type ShownTokenFacts = Awaited<ReturnType<typeof show>>[number];

interface TokenFactsPage {
  readonly tokens: readonly ShownTokenFacts[];
  readonly indexed: Indexed;
}

/** Per request: each takes up to thirty calls of an archive node. */
const CREATIONS_MAX = 10;
/** Milliseconds until an address without a token, or without a supply, is read again. */
const SILENCE_MS = 60_000;
const SYMBOL_ROWS_MAX = 100;

/** One row per address, in order. Missing data is read now, as far as time permits. */
export async function getTokenFacts(
  context: ReadingContext,
  chain: Chain,
  addresses: readonly Address[],
): Promise<TokenFactsPage> {
  const { database } = context;
  const known = await getTokens(database, chain, addresses);
  const facts = await refreshTokenFacts(context, chain, { addresses, known });
  return {
    tokens: await show(context, chain, addresses, facts),
    indexed: { ...(await readCoverage(database, chain)), complete: facts.isComplete },
  };
}

export async function getTokenFactsBySymbol(
  context: ReadingContext,
  chain: Chain,
  symbols: readonly string[],
): Promise<TokenFactsPage> {
  const { database } = context;
  const found = await getTokensBySymbol(database, chain, symbols, SYMBOL_ROWS_MAX + 1);
  const page = found.slice(0, SYMBOL_ROWS_MAX);
  const addresses = page.map(({ address }) => address);
  const known = new Map(page.map((row) => [row.address, row]));
  const facts = await refreshTokenFacts(context, chain, { addresses, known });
  const indexed = await readCoverage(database, chain);
  const isCovered = indexed.fromBlock !== null && indexed.fromBlock <= chain.firstBlock;
  // A token whose metadata is not read yet may have one of the symbols.
  const unread = sql`SELECT FROM tokens WHERE facts_status IN ('pending', 'failed')
    AND coalesce(facts_lease_until, facts_due_at) IS NOT NULL AND chain_id = ${chain.id} LIMIT 1`;
  const isWhole = isCovered && (await database.query(unread)).length === 0;
  return {
    tokens: await show(context, chain, addresses, facts),
    indexed: { ...indexed, complete: facts.isComplete && isWhole && found.length <= SYMBOL_ROWS_MAX },
  };
}

/** Does not wait for creation searches. `reported`: just read, also what is not a token. */
export async function refreshTokenFacts(
  context: ReadingContext,
  chain: Chain,
  {
    addresses,
    known,
  }: { readonly addresses: readonly Address[]; readonly known: ReadonlyMap<Address, StoredToken> },
) {
  const { database } = context;
  const recent = [...known.values()].filter(({ isSupplyRecent }) => isSupplyRecent);
  const supplies = recent.flatMap(({ address, supplyBlock: since }) =>
    since === null ? [] : [{ address, since }],
  );
  const changed = await getChangedSupplies(database, chain, supplies);
  const due = addresses.filter((address) => {
    const row = known.get(address);
    return row === undefined || !row.isRead || !row.isSupplyRecent || changed.has(address);
  });
  const [unknown, stale] = [
    due.filter((address) => !known.has(address)),
    due.filter((address) => known.has(address)),
  ];
  const answers = await Promise.all([
    readTokenFacts(context, chain, { addresses: unknown, fruitlessMs: SILENCE_MS, maxAgeMs: SILENCE_MS }),
    readTokenFacts(context, chain, { addresses: stale, fruitlessMs: SILENCE_MS }),
  ]);
  const reported = new Map(answers.flatMap((answer) => [...answer]));
  const rows = due.length === 0 ? known : await getTokens(database, chain, addresses);
  const unsought = [...rows.values()].filter(({ isCreationDue, standard }) => isCreationDue && standard !== null);
  const sought = unsought.slice(0, CREATIONS_MAX).map(({ address }) => address);
  await seekTokenCreations(context, chain, sought);
  // With the supply: the stored one may be outdated.
  const isReported = (address: Address): boolean => {
    const [token, row] = [reported.get(address), rows.get(address)];
    if (token === undefined || row?.isRead !== true) return token !== undefined;
    return row.isSupplyRecent && (token.total_supply !== null || row.totalSupply === null);
  };
  return { rows, reported, isComplete: due.every(isReported) };
}

async function show(
  { database }: ReadingContext,
  chain: Chain,
  addresses: readonly Address[],
  { rows, reported }: Awaited<ReturnType<typeof refreshTokenFacts>>,
) {
  const labelOf = await getLabels(database, chain, addresses);
  return addresses.map((address) => {
    const row = rows.get(address);
    const said = reported.get(address);
    return {
      address,
      name: row?.name ?? said?.name ?? null,
      symbol: row?.symbol ?? said?.symbol ?? null,
      decimals: row?.decimals ?? said?.decimals ?? null,
      logo: row?.logo ?? null,
      verified: row?.verified ?? false,
      possibleSpam: row?.possibleSpam ?? false,
      isValidated: row?.isRead === true && row.standard !== null,
      totalSupply: row?.totalSupply ?? null,
      createdBlock: row?.createdBlock ?? null,
      createdAt: row?.createdAt ?? null,
      label: labelOf(address).label,
    };
  });
}

async function readCoverage(database: Database, chain: Chain): Promise<Pick<Indexed, 'fromBlock' | 'toBlock'>> {
  const [row] = await database.query<IndexedColumns>(
    sql`WITH ${coverage(chain.id, erc20Transfers.name)} SELECT indexed_from, indexed_to, NULL AS complete FROM covered`,
  );
  return readIndexed(row);
}

interface StoredToken extends Omit<TokenFacts, 'isNft'> {
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

async function getTokensBySymbol(
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

async function getChangedSupplies(
  database: Database,
  chain: Chain,
  tokens: readonly { address: Address; since: number }[],
): Promise<ReadonlySet<Address>> {
  if (tokens.length === 0) return new Set();
  const rows = await database.query<{ address: Address }>(changedSuppliesStatement(chain, tokens));
  return new Set(rows.map(({ address }) => address));
}

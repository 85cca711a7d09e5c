import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { coverage, getLabels, type Indexed, type IndexedColumns, readIndexed } from '@chainstead/data-api';
import { type Database, sql } from '@chainstead/db';
import type { ReadingContext } from '@chainstead/node-reads';
import { type ReportedToken, readTokenFacts, seekTokenCreations } from '@chainstead/tokens';
import { erc20Transfers } from '../transfers/dataset.ts';
import { getChangedSupplies, getTokens, getTokensBySymbol, type TokenRow } from './token-rows.ts';

/** A token as shown in responses. */
export interface TokenFacts extends Pick<TokenRow, 'address' | 'name' | 'symbol' | 'decimals' | 'logo' | 'verified'> {
  readonly possibleSpam: boolean;
  /** Whether its contract returned any metadata. */
  readonly isValidated: boolean;
  readonly totalSupply: string | null;
  readonly createdBlock: number | null;
  readonly createdAt: Date | null;
  readonly label: string | null;
}

export interface TokenFactsPage {
  readonly tokens: readonly TokenFacts[];
  readonly indexed: Indexed;
}

/** Dependencies for reading token facts. */
export interface TokenFactsContext extends ReadingContext {
  /** Time that a request waits for contract reads. Milliseconds. */
  readonly waitMs: number;
}

/** Maximum creation searches per request: each takes up to thirty calls of an archive node. */
const CREATIONS_MAX = 10;
/** Retry interval of an address that is not a token, and of a supply that no node returned. Milliseconds. */
const SILENCE_MS = 60_000;
/** Maximum rows of a response by symbols. */
const SYMBOL_ROWS_MAX = 100;

/** Returns one row per address, in order. Missing data is read now, as far as time permits. */
export async function getTokenFacts(
  context: TokenFactsContext,
  chain: Chain,
  addresses: readonly Address[],
): Promise<TokenFactsPage> {
  const { database } = context;
  const known = await getTokens(database, chain, addresses);
  const { rows, reported, isComplete } = await refreshTokenFacts(context, chain, { addresses, known });
  return {
    tokens: await show(context, chain, { addresses, rows, reported }),
    indexed: { ...(await readCoverage(database, chain)), complete: isComplete },
  };
}

/** Returns tokens with these symbols among all stored ones; contracts can't be searched by symbol. */
export async function getTokenFactsBySymbol(
  context: TokenFactsContext,
  chain: Chain,
  symbols: readonly string[],
): Promise<TokenFactsPage> {
  const { database } = context;
  const found = await getTokensBySymbol(database, chain, symbols, SYMBOL_ROWS_MAX + 1);
  const page = found.slice(0, SYMBOL_ROWS_MAX);
  const addresses = page.map(({ address }) => address);
  const known = new Map(page.map((row) => [row.address, row]));
  const { rows, reported, isComplete } = await refreshTokenFacts(context, chain, { addresses, known });
  const indexed = await readCoverage(database, chain);
  const isWhole =
    indexed.fromBlock !== null && indexed.fromBlock <= chain.firstBlock && !(await hasUnread(database, chain));
  return {
    tokens: await show(context, chain, { addresses, rows, reported }),
    indexed: { ...indexed, complete: isComplete && isWhole && found.length <= SYMBOL_ROWS_MAX },
  };
}

interface Requested {
  readonly addresses: readonly Address[];
  readonly known: ReadonlyMap<Address, TokenRow>;
}

interface Found {
  readonly rows: ReadonlyMap<Address, TokenRow>;
  /** Contracts read just now, including those that are not tokens and therefore have no row. */
  readonly reported: ReadonlyMap<Address, ReportedToken>;
  /** Whether no read is missing. */
  readonly isComplete: boolean;
}

/**
 * Reads contracts with unknown or possibly changed data and waits for them. Starts creation searches without waiting.
 */
export async function refreshTokenFacts(
  context: TokenFactsContext,
  chain: Chain,
  { addresses, known }: Requested,
): Promise<Found> {
  const { database, waitMs } = context;
  const recent = [...known.values()].filter(({ isSupplyRecent }) => isSupplyRecent);
  const changed = await getChangedSupplies(
    database,
    chain,
    recent.flatMap(({ address, supplyBlock: since }) => (since === null ? [] : [{ address, since }])),
  );
  const due = addresses.filter((address) => {
    const row = known.get(address);
    return row === undefined || !row.isRead || !row.isSupplyRecent || changed.has(address);
  });
  const [unknown, stale] = [due.filter((address) => !known.has(address)), due.filter((address) => known.has(address))];
  const options = { waitMs, fruitlessMs: SILENCE_MS };
  const answers = await Promise.all([
    readTokenFacts(context, chain, { ...options, addresses: unknown, maxAgeMs: SILENCE_MS }),
    readTokenFacts(context, chain, { ...options, addresses: stale }),
  ]);
  const reported = new Map(answers.flatMap((answer) => [...answer]));
  const rows = due.length === 0 ? known : await getTokens(database, chain, addresses);
  const unsought = [...rows.values()].filter(({ isCreationDue, standard }) => isCreationDue && standard !== null);
  await seekTokenCreations(
    context,
    chain,
    unsought.slice(0, CREATIONS_MAX).map(({ address }) => address),
  );
  return { rows, reported, isComplete: due.every((address) => isReported(reported.get(address), rows.get(address))) };
}

/** Whether a contract was read just now, including its supply: the stored supply may be outdated. */
function isReported(said: ReportedToken | undefined, row: TokenRow | undefined): boolean {
  if (said === undefined) return false;
  if (row === undefined || !row.isRead) return true;
  return row.isSupplyRecent && (said.total_supply !== null || row.totalSupply === null);
}

async function show(
  { database }: ReadingContext,
  chain: Chain,
  { addresses, rows, reported }: { readonly addresses: readonly Address[] } & Pick<Found, 'rows' | 'reported'>,
): Promise<TokenFacts[]> {
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

/** Whether there are tokens with unread symbols. */
async function hasUnread(database: Database, chain: Chain): Promise<boolean> {
  const rows = await database.query(
    sql`SELECT FROM tokens WHERE facts_status IN ('pending', 'failed') AND coalesce(facts_lease_until, facts_due_at) IS NOT NULL AND chain_id = ${chain.id} LIMIT 1`,
  );
  return rows.length > 0;
}

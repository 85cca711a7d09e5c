import { coverage, type Indexed, type IndexedColumns, readIndexed } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { ReadingContext } from '@chainstead/state';
import { readTokenFacts, seekTokenCreations, type ToldToken } from '@chainstead/tokens';
import { erc20Transfers } from '../transfers/dataset.ts';
import { getChangedSupplies, getLabels, getTokens, getTokensBySymbol, type TokenRow } from './token-rows.ts';

/** A token as it is shown. */
export interface TokenFacts extends Pick<TokenRow, 'address' | 'name' | 'symbol' | 'decimals' | 'logo' | 'verified'> {
  readonly possibleSpam: boolean;
  /** Whether its contract said something. */
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

/** What token facts are told with. */
export interface TokenFactsContext extends ReadingContext {
  /** How long a request waits for what contracts say. Milliseconds. */
  readonly waitMs: number;
}

/** What one request has looked for at most: each takes up to thirty calls of an archive node. */
const CREATIONS_MAX = 10;
/** So long an address that is no token is not asked again, and a supply that no node told is not waited for again. Milliseconds. */
const SILENCE_MS = 60_000;
/** Rows of an answer by symbols. */
const SYMBOL_ROWS_MAX = 100;

/** One row for each of the addresses, in their order. What is not known of them is read now, as far as it comes in time. */
export async function getTokenFacts(
  context: TokenFactsContext,
  chain: Chain,
  addresses: readonly Address[],
): Promise<TokenFactsPage> {
  const { database } = context;
  const known = await getTokens(database, chain, addresses);
  const { rows, told, isComplete } = await refreshTokenFacts(context, chain, { addresses, known });
  return {
    tokens: await show(context, chain, { addresses, rows, told }),
    indexed: { ...(await readCoverage(database, chain)), complete: isComplete },
  };
}

/** Tokens of these symbols among all that are known; the contracts of a chain can't be asked for theirs. */
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
  const { rows, told, isComplete } = await refreshTokenFacts(context, chain, { addresses, known });
  const indexed = await readCoverage(database, chain);
  const isWhole =
    indexed.fromBlock !== null && indexed.fromBlock <= chain.firstBlock && !(await hasUnread(database, chain));
  return {
    tokens: await show(context, chain, { addresses, rows, told }),
    indexed: { ...indexed, complete: isComplete && isWhole && found.length <= SYMBOL_ROWS_MAX },
  };
}

interface Asked {
  readonly addresses: readonly Address[];
  readonly known: ReadonlyMap<Address, TokenRow>;
}

interface Found {
  readonly rows: ReadonlyMap<Address, TokenRow>;
  /** What contracts said just now, also those that are no tokens and hence have no row. */
  readonly told: ReadonlyMap<Address, ToldToken>;
  /** Whether nothing was left out for want of a reading. */
  readonly isComplete: boolean;
}

/** Has the contracts asked of which something is not known, or may have changed, and waits for that; and creations looked for, which is not waited for. */
export async function refreshTokenFacts(
  context: TokenFactsContext,
  chain: Chain,
  { addresses, known }: Asked,
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
  const told = new Map(answers.flatMap((answer) => [...answer]));
  const rows = due.length === 0 ? known : await getTokens(database, chain, addresses);
  const unsought = [...rows.values()].filter(({ isCreationDue, standard }) => isCreationDue && standard !== null);
  await seekTokenCreations(
    context,
    chain,
    unsought.slice(0, CREATIONS_MAX).map(({ address }) => address),
  );
  return { rows, told, isComplete: due.every((address) => isTold(told.get(address), rows.get(address))) };
}

/** Whether a contract was read just now, its supply included: what was known of that before may be another one. */
function isTold(said: ToldToken | undefined, row: TokenRow | undefined): boolean {
  if (said === undefined) return false;
  if (row === undefined || !row.isRead) return true;
  return row.isSupplyRecent && (said.total_supply !== null || row.totalSupply === null);
}

async function show(
  { database }: ReadingContext,
  chain: Chain,
  { addresses, rows, told }: { readonly addresses: readonly Address[] } & Pick<Found, 'rows' | 'told'>,
): Promise<TokenFacts[]> {
  const labels = await getLabels(database, chain, addresses);
  return addresses.map((address) => {
    const row = rows.get(address);
    const said = told.get(address);
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
      label: labels.get(address) ?? null,
    };
  });
}

async function readCoverage(database: Database, chain: Chain): Promise<Pick<Indexed, 'fromBlock' | 'toBlock'>> {
  const [row] = await database.query<IndexedColumns>(
    `WITH ${coverage('$1', '$2')} SELECT indexed_from, indexed_to, NULL AS complete FROM covered`,
    [chain.id, erc20Transfers.name],
  );
  return readIndexed(row);
}

/** Whether there are tokens whose symbols are not known yet. */
async function hasUnread(database: Database, chain: Chain): Promise<boolean> {
  const rows = await database.query(
    `SELECT FROM tokens WHERE facts_status IN ('pending', 'failed') AND chain_id = $1 LIMIT 1`,
    [chain.id],
  );
  return rows.length > 0;
}

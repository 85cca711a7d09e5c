import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { ReadingContext } from '@chainstead/node-reads/requests';
import { coverage, getLabels, type Indexed, type IndexedColumns, readIndexed } from '@chainstead/pages';
import { readTokenFacts, seekTokenCreations } from '@chainstead/tokens/requests';
import { erc20Transfers } from '../transfers/dataset.ts';
import { getChangedSupplies, getTokens, getTokensBySymbol, type StoredToken } from './token-rows.ts';

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

import type { Chain } from '@chainstead/chains';
import { type Address, type Logger, waitingAtMost, ZERO_ADDRESS } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type BalanceRequestSources, requestBalances } from '@chainstead/erc20/requests';
import {
  type ReadDirectPrices,
  requestPoolLookups,
  shownToken,
  tokensToLookUp,
} from '@chainstead/markets/requests';
import { type PricePlace, readPlace } from '../place/price-place.ts';
import { addHopPrices, readTokenPrices } from './read-hop-prices.ts';
import {
  dollarsOf,
  hopTokensOf,
  type PriceConditions,
  readDirectPrices,
  type TokenPrice,
  type TokenPrices,
  tokensWithPools,
} from './token-price.ts';

export interface PriceSources {
  readonly reads: ReadDatabase;
  /** The primary: it has contract reads first. */
  readonly database: ReadDatabase;
  /** Null: only stored balances count. */
  readonly contracts: { readonly balances: BalanceRequestSources; readonly logger: Logger } | null;
  /** Stored prices of the tokens at the place, without hops. Default: they are read. */
  readonly direct?: Promise<TokenPrices> | undefined;
}

export function priceSourcesOf(
  { reads, database, logger }: Pick<PriceSources, 'reads' | 'database'> & { readonly logger: Logger },
  balances: BalanceRequestSources,
): PriceSources {
  return { reads, database, contracts: { balances, logger } };
}

const READS_MAX = 256;

/** First looks up pools and missing balances. Reads that take too long serve later requests. */
export async function readPricesWithBalances(
  sources: PriceSources,
  chain: Chain,
  tokens: readonly Address[],
  conditions: PriceConditions,
  place: PricePlace,
): Promise<TokenPrices> {
  const found = await readPricesWithLookups(sources, chain, tokens, conditions, place);
  return addMissingBalances(sources, chain, found, conditions, place);
}

/** Old blocks need no more: pools are looked up at new ones. */
export async function addMissingBalances(
  sources: PriceSources,
  chain: Chain,
  found: TokenPrices,
  conditions: PriceConditions,
  place: PricePlace,
): Promise<TokenPrices> {
  const { database, contracts } = sources;
  if (contracts === null) return found;
  const { balances, logger } = contracts;
  const unknown = [...found].flatMap(([token, price]) =>
    price.of === 'anchor' ? [] : [{ token, ...price.unknown }],
  );
  const holdingsIn = (list: 'old' | 'unread' | 'moved') =>
    unknown.flatMap((pools) => pools[list]).slice(0, READS_MAX);
  const [old, unread, moved] = [holdingsIn('old'), holdingsIn('unread'), holdingsIn('moved')];
  if (old.length > 0) await waitingAtMost(0, () => requestBalances(balances, chain, old, logger));
  if (unread.length + moved.length === 0) return found;
  const isRead = await Promise.all([
    requestBalances(balances, chain, unread, logger),
    // A read of the moment before the first swap says nothing about the moment after it.
    requestBalances({ ...balances, sharedMs: 0 }, chain, moved, logger),
  ]);
  if (!isRead.includes(true)) return found;
  const again = unknown.filter((pools) => pools.unread.length + pools.moved.length > 0).map(({ token }) => token);
  return new Map([...found, ...(await readTokenPrices(database, chain, again, conditions, place))]);
}

/** US dollars; null: unknown. */
export async function readNativePrice(sources: PriceSources, chain: Chain, place: PricePlace) {
  const native = shownToken(ZERO_ADDRESS, chain);
  const conditions = { factories: null, rules: chain.pricing };
  return dollarsOf((await readPricesWithBalances(sources, chain, [native], conditions, place)).get(native));
}

async function readPricesWithLookups(
  sources: PriceSources,
  chain: Chain,
  tokens: readonly Address[],
  conditions: PriceConditions,
  place: PricePlace,
): Promise<TokenPrices> {
  const { reads, database, contracts, direct } = sources;
  const stored =
    direct === undefined
      ? readTokenPrices(reads, chain, tokens, conditions, place)
      : direct.then((known) => addHopPrices(reads, chain, known, conditions, place));
  if (contracts === null) return stored;
  const readAgain = async (prices: TokenPrices, again: readonly Address[]) =>
    again.length === 0
      ? prices
      : new Map([...prices, ...(await readTokenPrices(database, chain, again, conditions, place))]);
  const ofPools = tokensWithPools(tokens, chain, place);
  const [found, unknown] = await Promise.all([stored, tokensToLookUp(database, chain, ofPools, place)]);
  const { logger, balances } = contracts;
  const lookups = { database, nodeReads: balances.nodeReads, logger };
  const known = await readAgain(found, await requestPoolLookups(lookups, chain, unknown, place));
  const hopTokens = [...new Set([...known.values()].flatMap(hopTokensOf))].toSorted().slice(0, HOP_LOOKUPS_MAX);
  const hops = await tokensToLookUp(database, chain, hopTokens, place);
  const lookedUp = new Set(await requestPoolLookups(lookups, chain, hops, place));
  const isThrough = (price: TokenPrice) => hopTokensOf(price).some((hop) => lookedUp.has(hop));
  return readAgain(
    known,
    [...known].flatMap(([token, price]) => (isThrough(price) ? [token] : [])),
  );
}

/** Per request: anyone can create pools, and requests share the look-ups of a minute. */
const HOP_LOOKUPS_MAX = 8;

/** Per request: each block takes statements, and requests share connections. */
const BLOCKS_AT_ONCE = 4;

/** No hops. Missing pools and balances at the newest block are read for later requests. */
export function createDirectPriceReader(balances: BalanceRequestSources): ReadDirectPrices {
  return async ({ database, logger }, chain, wanted) => {
    const sources = priceSourcesOf({ reads: database, database, logger }, balances);
    const conditions = { factories: null, rules: chain.pricing };
    const blocks = [...wanted.keys()].toSorted((a, b) => b - a);
    const found = new Map<number, ReadonlyMap<Address, TokenPrice>>();
    const readBlock = async (block: number): Promise<void> => {
      const { place } = await readPlace(database, chain, { of: 'block', block }, chain.pricing.windowSeconds);
      const tokens = wanted.get(block) ?? [];
      if (place === null) return;
      const prices =
        block === blocks[0]
          ? await waitingAtMost(0, () => readPricesWithBalances(sources, chain, tokens, conditions, place))
          : await readDirectPrices(database, chain, tokens, conditions, place);
      found.set(block, prices);
    };
    for (let start = 0; start < blocks.length; start += BLOCKS_AT_ONCE)
      await Promise.all(blocks.slice(start, start + BLOCKS_AT_ONCE).map(readBlock));
    return (token, block) => {
      const price = found.get(block)?.get(token);
      return price?.of === 'pools' && price.hops.length === 0 ? price.usd : null;
    };
  };
}

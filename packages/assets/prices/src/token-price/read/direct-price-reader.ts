import { type Address, waitingAtMost } from '@chainstead/core';
import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import type { ReadDirectPrices } from '@chainstead/markets/requests';
import { readPlace } from '../place/price-place.ts';
import { priceSourcesOf, readPricesWithBalances } from './prices-with-balances.ts';
import { readDirectPrices, type TokenPrice } from './token-price.ts';

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

import { waitingAtMost } from '@chainstead/core';
import type { BalanceRequestSources, ReadTokenPrices } from '@chainstead/erc20/requests';
import { priceSourcesOf } from '../token-price/read/prices-with-balances.ts';
import { readHeldPrices } from './held-values.ts';

/** Never waits: missing balances of pools are read for later requests. */
export function createTokenPriceReader(balances: BalanceRequestSources): ReadTokenPrices {
  return async ({ database, logger }, chain, tokens, block) => {
    if (tokens.length === 0) return new Map();
    const sources = priceSourcesOf({ reads: database, database, logger }, balances);
    const wanted = { block, limits: {}, changing: [] };
    return waitingAtMost(0, () => readHeldPrices(sources, chain, [...new Set(tokens)], wanted));
  };
}

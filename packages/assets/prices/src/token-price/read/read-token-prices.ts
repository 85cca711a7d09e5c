import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { anchorsOf } from '@chainstead/markets/requests';
import type { PricePlace } from '../place/price-place.ts';
import { readHopPrices } from './read-hop-prices.ts';
import {
  type NoPrice,
  type PriceConditions,
  readDirectPrices,
  type TokenPrice,
  type TokenPrices,
  tokensWithPools,
} from './token-price.ts';

/** A direct price exists, but is not shown. A push must not change how a token is priced. */
const DIRECT: readonly NoPrice['reason'][] = ['implausible', 'unsettled'];

/** {@link readDirectPrices}, else through another token. Few statements for many tokens. */
export async function readTokenPrices(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
  conditions: PriceConditions,
  place: PricePlace,
): Promise<TokenPrices> {
  const direct = await readDirectPrices(database, chain, tokens, conditions, place);
  return addHopPrices(database, chain, direct, conditions, place);
}

export async function addHopPrices(
  database: ReadDatabase,
  chain: Chain,
  direct: TokenPrices,
  conditions: PriceConditions,
  place: PricePlace,
): Promise<TokenPrices> {
  // A token with a feed is priced by it, or by pools against other anchors.
  const fed = new Set(Object.values(anchorsOf(chain)).flat());
  const open = new Map<Address, Extract<TokenPrice, { of: 'nothing' }>>();
  for (const token of tokensWithPools([...direct.keys()], chain, place)) {
    const price = direct.get(token);
    if (price?.of !== 'nothing' || fed.has(token) || !price.unknown.isFinal) continue;
    if (!DIRECT.includes(price.why.reason)) open.set(token, price);
  }
  if (open.size === 0) return direct;
  return new Map([...direct, ...(await readHopPrices(database, chain, open, conditions, place))]);
}

import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { createPriceReader, type WantedPrice } from './price-reader.ts';
import { errorOf } from './price-refusals.ts';
import { type ShownTokenPrice, showTokenPrice } from './price-response.ts';

/**
 * Returns a price with its explanation, from stored rows alone.
 * @throws {ApiError} if there is no price, with the message of the route
 */
export async function readExplainedPrice(
  database: ReadDatabase,
  chain: Chain,
  wanted: WantedPrice,
): Promise<ShownTokenPrice> {
  const read = createPriceReader({ reads: database, database, contracts: null }, chain, {});
  const [found] = await read([wanted]);
  if (found === undefined) throw errorOf('no-pools', null);
  if ('refusal' in found) throw errorOf(found.refusal, found.newest);
  return showTokenPrice(found, chain, true);
}

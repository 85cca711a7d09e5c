import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { createPriceReader, type WantedPrice } from '../token-price/serve/price-reader.ts';
import { errorOf } from '../token-price/serve/price-refusals.ts';
import { type ShownTokenPrice, showTokenPrice } from '../token-price/serve/price-response.ts';
import { type ProofSources, showProvenPrice } from './prove-price.ts';

/** From stored rows, with a proof if evidence has a source. @throws {ApiError} without a price */
export async function readExplainedPrice(
  database: ReadDatabase,
  chain: Chain,
  wanted: WantedPrice,
  readEvidence: ProofSources['readEvidence'] | null = null,
): Promise<ShownTokenPrice> {
  const { read } = createPriceReader({ reads: database, database, contracts: null }, chain, {});
  const [found] = await read([wanted]);
  if (found === undefined) throw new RangeError('A wanted price has a result');
  if ('refusal' in found) throw errorOf(found, chain, true);
  return readEvidence === null
    ? showTokenPrice(found, chain, true)
    : showProvenPrice(found, chain, { database, readEvidence });
}

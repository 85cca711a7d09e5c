import type { Chain } from '@chainstead/chains';
import { type SharedFiguresQuery, SwapsNotSummedError, sumTradeFigures } from '@chainstead/markets/requests';
import type { PriceSources } from '../../token-price/read/prices-with-balances.ts';

/** From a worker if they take many swaps. @throws {SwapsNotSummedError} until it has summed them */
export function readFigures({ reads, contracts }: PriceSources, chain: Chain, query: SharedFiguresQuery) {
  return sumTradeFigures({ reads, worker: contracts?.balances ?? null }, chain, query);
}

/** Null until a worker has summed them. */
export async function readFiguresIfSummed(sources: PriceSources, chain: Chain, query: SharedFiguresQuery) {
  try {
    return await readFigures(sources, chain, query);
  } catch (error) {
    if (error instanceof SwapsNotSummedError) return null;
    throw error;
  }
}

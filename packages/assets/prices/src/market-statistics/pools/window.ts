import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { SWAPS_DATASET, type TimeSpan } from '@chainstead/markets/requests';
import { readBlockRuns } from '@chainstead/pages';
import { type PricePlace, readPlace } from '../../token-price/place/price-place.ts';

export const DAY_SECONDS = 86_400;

/** The last block that is at least so much older. Null: not indexed. */
export async function placeBefore(database: ReadDatabase, chain: Chain, { time }: PricePlace, seconds: number) {
  const moment = { of: 'time', time: time - seconds } as const;
  return (await readPlace(database, chain, moment, chain.pricing.windowSeconds)).place;
}

export function spanBefore({ time }: PricePlace, seconds: number): TimeSpan {
  return { from: time - seconds + 1, to: time + 1 };
}

/** `before` null: the window starts before the first indexed block. */
export async function areSwapsIndexed(
  database: ReadDatabase,
  chain: Chain,
  before: PricePlace | null,
  { block }: PricePlace,
): Promise<boolean> {
  const run = (await readBlockRuns(database, chain.id, [SWAPS_DATASET], block)).get(SWAPS_DATASET);
  return run !== undefined && run.firstBlock <= Math.max(chain.firstBlock, (before?.block ?? -1) + 1);
}

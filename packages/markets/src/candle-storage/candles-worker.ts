import type { Chain } from '@chainstead/chains';
import type { Database } from '@chainstead/db';
import type { Schedule } from '@chainstead/jobs';
import { storeCandles } from './store-candles.ts';

export interface CandleScheduleOptions {
  readonly database: Database;
  /** Chains whose candles this process stores. */
  readonly chains: readonly { readonly chain: Chain }[];
}

const EVERY_MS = 30_000;
/** Time of a turn: the rest follows at the next one. */
const TURN_MS = 20_000;

/** Returns a schedule `pool-candles-<chain>` for each chain: it stores the candles of hours and days that have become final. */
export function createCandleSchedules({ database, chains }: CandleScheduleOptions): Schedule[] {
  return chains.map(({ chain }) => ({
    name: `pool-candles-${chain.key}`,
    everyMs: EVERY_MS,
    async run(ending) {
      const signal = AbortSignal.any([ending, AbortSignal.timeout(TURN_MS)]);
      await storeCandles({ database, chain, signal, now: Math.floor(Date.now() / 1_000) });
    },
  }));
}

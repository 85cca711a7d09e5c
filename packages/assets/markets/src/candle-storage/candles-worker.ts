import type { Schedule } from '@chainstead/jobs/worker';
import type { OutdatedCandlesOptions } from './outdated-candles.ts';
import { storeCandles } from './store-candles.ts';

const EVERY_MS = 30_000;
const TURN_MS = 20_000;

export function createCandleSchedules({ database, chains }: OutdatedCandlesOptions): Schedule[] {
  return chains.map(({ chain }) => ({
    name: `pool-candles-${chain.key}`,
    everyMs: EVERY_MS,
    async run(ending) {
      const signal = AbortSignal.any([ending, AbortSignal.timeout(TURN_MS)]);
      await storeCandles({ database, chain, signal, now: Math.floor(Date.now() / 1_000) });
    },
  }));
}

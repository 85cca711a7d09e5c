import type { Chain } from '@chainstead/chains';
import type { Database } from '@chainstead/db';
import type { Schedule } from '@chainstead/jobs/worker';
import { secondsOf } from '../pool-candles/candle-record.ts';
import { computeCandles, isUncertain } from '../pool-candles/compute-candles.ts';
import { markStoredWithOthers, type OutdatedCandlesOptions } from './outdated-candles.ts';
import { settleStale } from './settle-stale.ts';
import {
  claimSpan,
  createHourExaminer,
  listMissingHours,
  readStorableBlocks,
  storeClaimed,
} from './storable-hours.ts';
import { storeDays } from './store-day.ts';

interface StoreCandlesOptions {
  readonly database: Database;
  readonly chain: Chain;
  readonly signal: AbortSignal;
  /** Unix seconds. Traders are stored for windows that end now. */
  readonly now: number;
}

const HOURS_MAX = 500;
/** Feed aggregators are looked up every 10 minutes: no hour is stored before a new one is known. */
const DELAY_SECONDS = 1_800;
/** Windows of statistics reach back a week. */
const TRADERS_SECONDS = 8 * 86_400;

/** Newest first. Several processes may run this. Returns the number of stored hours. */
export async function storeCandles(options: StoreCandlesOptions): Promise<number> {
  const { database, chain, signal, now } = options;
  const storable = await readStorableBlocks(database, chain);
  if (storable.swaps.length === 0) return 0;
  await settleStale(database, chain, storable, signal);
  const examine = createHourExaminer(database, chain, storable);
  let stored = 0;
  for (const hour of await listMissingHours(database, chain, storable, HOURS_MAX)) {
    if (signal.aborted) break;
    const span = now < secondsOf(hour + 1) + DELAY_SECONDS ? null : await examine(hour);
    if (span === null) continue;
    const claim = await claimSpan(database, chain, span);
    if (claim === null) continue;
    const blocks = { from: span.firstBlock, to: span.lastBlock };
    const candles = await computeCandles(database, chain, hour, blocks, 'proven');
    const uncertain = candles.filter((candle) => isUncertain(candle, chain)).map(({ pool }) => pool.pool);
    const keepsTraders = now - secondsOf(hour) < TRADERS_SECONDS;
    if (!(await storeClaimed(database, chain, { span, claim, candles, keepsTraders, uncertain }))) continue;
    stored += 1;
    await markStoredWithOthers(database, chain, hour, candles);
  }
  await storeDays(database, chain, signal);
  return stored;
}

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

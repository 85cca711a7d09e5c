import type { Chain } from '@chainstead/chains';
import { type Address, type Clock, settlesWithin, subtractRanges, waitLeft } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { countRows, plus, type WalletCounts } from './count-rows.ts';
import { createCountedRangeBuilder } from './counted-range-builder.ts';
import { ALL_BLOCKS, readCountedRanges } from './counted-ranges.ts';

export interface WalletCounter {
  /** @throws StateUnavailableError (503) if a busy wallet's first count exceeds the wait limit */
  count(chain: Chain, wallet: Address): Promise<WalletCounts>;
}

export interface WalletCounterOptions {
  readonly database: Database;
  readonly projections: SubjectProjections;
  readonly clock: Clock;
  /** For each table. */
  readonly rowsPerRequest?: number;
  readonly rowsPerRange?: number;
}

const ROWS_PER_REQUEST = 50_000;
const ROWS_PER_RANGE = 20_000;
const GAPS_MAX = 8;

/** Busy wallets have stored counts of spans, deleted when rows change. Requests count the rest. */
export function createWalletCounter(options: WalletCounterOptions): WalletCounter {
  const { database } = options;
  const { rowsPerRequest = ROWS_PER_REQUEST, rowsPerRange = ROWS_PER_RANGE } = options;
  const builder = createCountedRangeBuilder({ ...options, rowsPerRange });

  async function countNow(chain: Chain, wallet: Address): Promise<WalletCounts | null> {
    for (;;) {
      const spans = await readCountedRanges(database, chain, wallet);
      const gaps = subtractRanges([ALL_BLOCKS], spans);
      if (gaps.length > GAPS_MAX) return null;
      const { counts, isOver } = await countRows(database, chain, wallet, gaps, rowsPerRequest);
      // A changed row deletes its span's count: reads are consistent if all spans still exist.
      const remaining = spans.length === 0 ? spans : await readCountedRanges(database, chain, wallet);
      if (JSON.stringify(spans) !== JSON.stringify(remaining)) continue;
      return isOver ? null : spans.reduce<WalletCounts>(plus, counts);
    }
  }

  return {
    async count(chain, wallet) {
      const counts = await countNow(chain, wallet);
      if (counts !== null) return counts;
      const isBuilt = await settlesWithin(builder.build(chain, wallet), waitLeft());
      const built = isBuilt ? await countNow(chain, wallet) : null;
      if (built === null)
        throw new StateUnavailableError(`the activity of the wallet on ${chain.key} is being counted`);
      return built;
    },
  };
}

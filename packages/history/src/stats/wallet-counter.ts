import type { Chain } from '@chainstead/chains';
import { type Address, type Clock, subtractRanges } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { StateUnavailableError } from '@chainstead/state';
import type { KeptSubjects } from '@chainstead/sync';
import { countRows, plus, type WalletCounts } from './count-rows.ts';
import { createStretchBuilder } from './stretch-builder.ts';
import { ALL_BLOCKS, isSame, readStretches } from './stretches.ts';

/** Counts what wallets have, exactly, however much it is. */
export interface WalletCounter {
  /** @throws StateUnavailableError (503) while very much of a wallet is counted for the first time, longer than a request waits */
  count(chain: Chain, wallet: Address): Promise<WalletCounts>;
}

export interface WalletCounterOptions {
  readonly database: Database;
  readonly kept: KeptSubjects;
  readonly clock: Clock;
  /** How long a request waits for what is counted because of it. Milliseconds. */
  readonly waitMs: number;
  /** Rows of a table that are counted in a request. @default {@link ROWS_PER_REQUEST} */
  readonly rowsPerRequest?: number;
  /** Rows whose counts are kept together; fewer than a request counts. @default {@link ROWS_PER_STRETCH} */
  readonly rowsPerStretch?: number;
}

/** Of each table. */
const ROWS_PER_REQUEST = 50_000;
/** Commits of the chain wait meanwhile. */
const ROWS_PER_STRETCH = 20_000;
/** Between stretches that are counted: where there are more of them, they are counted first. */
const GAPS_MAX = 8;

/**
 * Counts each time what the indexes have of a wallet. Of one with very many rows counts of stretches of blocks are kept (`wallet_counts`), which go
 * as soon as rows come to their blocks or leave them: only the rest is counted then.
 */
export function createWalletCounter(options: WalletCounterOptions): WalletCounter {
  const { database, clock, waitMs } = options;
  const { rowsPerRequest = ROWS_PER_REQUEST, rowsPerStretch = ROWS_PER_STRETCH } = options;
  const builder = createStretchBuilder({ ...options, rowsPerStretch });

  /** Null: there is more than a request counts. */
  async function countNow(chain: Chain, wallet: Address): Promise<WalletCounts | null> {
    for (;;) {
      const stretches = await readStretches(database, chain, wallet);
      const gaps = subtractRanges([ALL_BLOCKS], stretches);
      if (gaps.length > GAPS_MAX) return null;
      const { counts, isOver } = await countRows(database, chain, wallet, gaps, rowsPerRequest);
      // A row that came to a stretch, or left it, took it away: what was read of both is of one moment where all are still there.
      if (stretches.length > 0 && !isSame(stretches, await readStretches(database, chain, wallet))) continue;
      return isOver ? null : stretches.reduce<WalletCounts>(plus, counts);
    }
  }

  async function isBuilt(chain: Chain, wallet: Address): Promise<boolean> {
    const waiting = new AbortController();
    const passed = clock.sleep(waitMs, waiting.signal).then(
      () => false,
      () => false,
    );
    try {
      return await Promise.race([builder.build(chain, wallet).then(() => true), passed]);
    } finally {
      waiting.abort();
    }
  }

  return {
    async count(chain, wallet) {
      const counts = await countNow(chain, wallet);
      if (counts !== null) return counts;
      const built = (await isBuilt(chain, wallet)) ? await countNow(chain, wallet) : null;
      if (built === null) throw new StateUnavailableError(`what the wallet did on ${chain.key} is being counted`);
      return built;
    },
  };
}

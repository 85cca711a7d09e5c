import type { Chain } from '@chainstead/chains';
import {
  type Address,
  type Clock,
  settlesWithin,
  subtractRanges,
  waitingAtMost,
  waitLeft,
} from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import type { SubjectProjections } from '@chainstead/sync/requests';
import {
  ALL_BLOCKS,
  blockBeyond,
  countRows,
  deleteCountedRanges,
  plus,
  readCountedRanges,
  readFollowings,
  saveCountedRange,
  type WalletCounts,
} from './counted-ranges.ts';

export interface WalletCounter {
  /** @throws StateUnavailableError (503) if a busy wallet's first count exceeds the wait limit */
  count(chain: Chain, wallet: Address): Promise<WalletCounts>;
}

interface WalletCounterOptions {
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

interface CountedRangeBuilderOptions {
  readonly database: Database;
  readonly projections: SubjectProjections;
  readonly clock: Clock;
  readonly rowsPerRange: number;
}

/** Span by span, one wallet at a time: commits of the chain wait, and must get half of the time. */
function createCountedRangeBuilder(options: CountedRangeBuilderOptions) {
  const { database, projections, clock, rowsPerRange } = options;
  const running = new Map<string, Promise<void>>();
  let turn: Promise<unknown> = Promise.resolve();

  async function buildAll(chain: Chain, wallet: Address): Promise<void> {
    const { all, lacking } = await readFollowings(database, chain, wallet);
    // Counts made before all changes were followed may be wrong.
    if (lacking.length > 0) await deleteCountedRanges(database, chain, wallet);
    for (const following of all)
      await waitingAtMost(FOLLOWING_WAIT_MS, () => projections.keep(chain, following, wallet));
    for (;;) {
      const started = clock.now();
      if (!(await buildNext(database, chain, wallet, rowsPerRange))) return;
      await clock.sleep(clock.now() - started);
    }
  }

  return {
    build(chain: Chain, wallet: Address): Promise<void> {
      const key = `${chain.id} ${wallet}`;
      const begun = running.get(key);
      if (begun !== undefined) return begun;
      const built = turn.then(() => buildAll(chain, wallet)).finally(() => running.delete(key));
      // A failure may have no listener left: the next request tries again.
      turn = built.catch(() => undefined);
      running.set(key, built);
      return built;
    },
  };
}

/** Not the request's wait: the builder continues after it. */
const FOLLOWING_WAIT_MS = 15_000;

/** Under the commit lock: no row changes. @returns whether there was a span to count */
function buildNext(database: Database, chain: Chain, wallet: Address, rows: number): Promise<boolean> {
  return database.transaction(async (transaction) => {
    // Counts lost in a crash are counted again.
    await transaction.query(sql`SET LOCAL synchronous_commit = off`);
    await lockChainCommits(transaction, chain);
    const { all, lacking } = await readFollowings(transaction, chain, wallet);
    if (all.length === 0 || lacking.length > 0) return false;
    const [gap] = subtractRanges([ALL_BLOCKS], await readCountedRanges(transaction, chain, wallet));
    if (gap === undefined) return false;
    const beyond = await blockBeyond(transaction, chain, wallet, gap, rows);
    if (beyond === null && gap.to === ALL_BLOCKS.to) return false;
    // A block is counted whole, however many rows it has.
    const span = { from: gap.from, to: beyond === null ? gap.to : Math.max(gap.from, beyond - 1) };
    const { counts } = await countRows(transaction, chain, wallet, [span], ROWS_OF_A_BLOCK);
    await saveCountedRange(transaction, chain, wallet, { ...span, ...counts });
    return true;
  });
}

const ROWS_OF_A_BLOCK = 2_147_483_646;

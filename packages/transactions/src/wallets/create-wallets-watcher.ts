import type { Chain } from '@chainstead/chains';
import {
  type BlockRange,
  type ChainId,
  type Clock,
  InvalidPrimitiveError,
  type Logger,
  mergeRanges,
} from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import {
  type BlockWatcher,
  executedTransactions,
  type WatchedBlock,
  WatchNeedsChangedError,
  type WholeBlock,
} from '@chainstead/sync';
import { internalTransfers } from '../internal-transfers/dataset.ts';
import { accountTransactions, transactions } from '../stored/datasets.ts';
import { findRequested } from './find-requested.ts';
import { selectRows } from './select-rows.ts';
import { beginWatching, cutRun, extendRun, forgetUnrequested } from './watch-run.ts';

export interface WalletsWatcherOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval between deletions of wallets without recent requests. Milliseconds. */
const FORGET_EVERY_MS = 600_000;
const NOTHING = { transactions: false, internalTransfers: false };
const PROVEN_TRANSACTIONS = { transactions: true, provenTransactions: true, internalTransfers: false };

/**
 * Returns a watcher that searches every followed block for requested wallets, on chains that store only their
 * transactions. With at least one wallet, blocks are read with their transactions, which takes no further call. It has
 * no state in memory: requests committed before a block count for it, whichever process leads the chain.
 */
export function createWalletsWatcher({ database, clock, logger }: WalletsWatcherOptions): BlockWatcher {
  /** Whether any wallet is requested, as of the last check: the chain's next commit checks again. */
  const isAnyRequested = new Map<ChainId, boolean>();
  const forgetAt = new Map<ChainId, number>();
  const searchable = createSearchable(logger);

  return {
    async needs(chain) {
      if (!watches(chain)) return NOTHING;
      const known = isAnyRequested.get(chain.id) ?? (await hasRequested(database, chain));
      isAnyRequested.set(chain.id, known);
      return known ? PROVEN_TRANSACTIONS : NOTHING;
    },
    async committed(transaction, chain, blocks) {
      const [first] = blocks;
      if (!watches(chain) || first === undefined) return;
      if ((forgetAt.get(chain.id) ?? 0) <= clock.now()) {
        await forgetUnrequested(transaction, chain.id);
        forgetAt.set(chain.id, clock.now() + FORGET_EVERY_MS);
      }
      const isAny = await beginWatching(transaction, chain.id, first.header.number);
      isAnyRequested.set(chain.id, isAny);
      if (!isAny) return;
      requireTransactions(chain, blocks);
      for (const run of runsOf(searchable(chain, blocks))) await extendRun(transaction, chain.id, run);
    },
    rolledBack: (transaction, chain, ancestor) => cutRun(transaction, chain.id, ancestor),
    rows: {
      datasets: ({ transactions: { mode }, internalTransfers: kept }) => [
        ...(mode === 'all' ? [] : [transactions, accountTransactions]),
        // Applies to wallets whose balances were searched.
        ...(kept === 'all' ? [] : [internalTransfers]),
      ],
      async select(transaction, chain, blocks) {
        if (isAnyRequested.get(chain.id) !== true) return [];
        return selectRows(chain, searchable(chain, blocks), (accounts) => findRequested(transaction, chain, accounts));
      },
    },
  };
}

function watches({ transactions: { mode } }: Chain): boolean {
  return mode === 'wallets';
}

async function hasRequested(database: Database, { id }: Chain): Promise<boolean> {
  const [found] = await database.query(sql`SELECT FROM tracked_wallets WHERE chain_id = ${id} LIMIT 1`);
  return found !== undefined;
}

/** @throws WatchNeedsChangedError if they were read before the first wallet was requested */
function requireTransactions(chain: Chain, blocks: readonly WatchedBlock[]): void {
  for (const { header, parts } of blocks)
    if (parts?.transactions === undefined)
      throw new WatchNeedsChangedError({ chain: chain.key, block: header.number, lacks: 'proven transactions' });
}

/**
 * Returns blocks with readable transactions: not if those of every upstream contradict the header, or a chain's nodes
 * return unreadable ones. Wallets' coverage excludes those blocks.
 */
function createSearchable(logger: Logger) {
  const known = new WeakMap<WatchedBlock, WholeBlock | null>();
  const readWhole = (chain: Chain, watched: WatchedBlock): WholeBlock | null => {
    const { header, parts } = watched;
    if (parts?.transactions === undefined || parts.transactions.level === 'unavailable') return null;
    try {
      return { header, transactions: executedTransactions(watched), internalTransactions: [] };
    } catch (error) {
      if (!(error instanceof InvalidPrimitiveError)) throw error;
      logger.warn(
        { chain: chain.key, block: header.number, err: error },
        'Transactions could not be searched for wallets',
      );
      return null;
    }
  };
  return (chain: Chain, blocks: readonly WatchedBlock[]): readonly WholeBlock[] =>
    blocks.flatMap((watched) => {
      const whole = known.get(watched) ?? (known.has(watched) ? null : readWhole(chain, watched));
      known.set(watched, whole);
      return whole ?? [];
    });
}

function runsOf(blocks: readonly WholeBlock[]): readonly BlockRange[] {
  return mergeRanges(blocks.map(({ header }) => ({ from: header.number, to: header.number })));
}

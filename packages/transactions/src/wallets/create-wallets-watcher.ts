import type { Chain } from '@chainstead/chains';
import { type ChainId, type Clock, InvalidPrimitiveError, type Logger, mergeRanges } from '@chainstead/core';
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

const FORGET_EVERY_MS = 600_000;
const NOTHING = { transactions: false, internalTransfers: false };
const PROVEN_TRANSACTIONS = { transactions: true, provenTransactions: true, internalTransfers: false };

/** No state in memory: requests committed before a block count for it, whichever process leads the chain. */
export function createWalletsWatcher({ database, clock, logger }: WalletsWatcherOptions): BlockWatcher {
  /** As of the last check: the chain's next commit checks again. */
  const isAnyRequested = new Map<ChainId, boolean>();
  const forgetAt = new Map<ChainId, number>();
  const searchable = createSearchable(logger);

  return {
    async needs(chain) {
      if (!watches(chain)) return NOTHING;
      const statement = sql`SELECT FROM tracked_wallets WHERE chain_id = ${chain.id} LIMIT 1`;
      const isAny = isAnyRequested.get(chain.id) ?? (await database.query(statement)).length > 0;
      isAnyRequested.set(chain.id, isAny);
      return isAny ? PROVEN_TRANSACTIONS : NOTHING;
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
      const searched = searchable(chain, blocks).map(({ header }) => ({ from: header.number, to: header.number }));
      for (const run of mergeRanges(searched)) await extendRun(transaction, chain.id, run);
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

/** @throws WatchNeedsChangedError if they were read before the first wallet was requested */
function requireTransactions(chain: Chain, blocks: readonly WatchedBlock[]): void {
  for (const { header, parts } of blocks)
    if (parts?.transactions === undefined)
      throw new WatchNeedsChangedError({ chain: chain.key, block: header.number, lacks: 'proven transactions' });
}

/** Without blocks that every upstream contradicts, or that are unreadable: coverage excludes those too. */
function createSearchable(logger: Logger) {
  const readBlocks = new WeakMap<WatchedBlock, WholeBlock | null>();
  const readWhole = (chain: Chain, watched: WatchedBlock): WholeBlock | null => {
    const { header, parts } = watched;
    if (parts?.transactions === undefined || parts.transactions.level === 'unavailable') return null;
    try {
      return { header, transactions: executedTransactions(watched), internalTransactions: [] };
    } catch (error) {
      if (!(error instanceof InvalidPrimitiveError)) throw error;
      const facts = { chain: chain.key, block: header.number, err: error };
      logger.warn(facts, 'Transactions could not be searched for wallets');
      return null;
    }
  };
  return (chain: Chain, blocks: readonly WatchedBlock[]): readonly WholeBlock[] =>
    blocks.flatMap((watched) => {
      const whole = readBlocks.get(watched) ?? (readBlocks.has(watched) ? null : readWhole(chain, watched));
      readBlocks.set(watched, whole);
      return whole ?? [];
    });
}

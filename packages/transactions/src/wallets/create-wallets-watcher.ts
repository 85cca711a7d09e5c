import type { Chain } from '@chainstead/chains';
import {
  type BlockRange,
  type ChainId,
  type Clock,
  InvalidPrimitiveError,
  type Logger,
  mergeRanges,
} from '@chainstead/core';
import type { Database } from '@chainstead/db';
import {
  type BlockWatcher,
  executedTransactions,
  type WatchedBlock,
  WatchNeedsChangedError,
  type WholeBlock,
} from '@chainstead/sync';
import { internalTransfers } from '../internal-transfers/dataset.ts';
import { accountTransactions, transactions } from '../stored/datasets.ts';
import { findAsked } from './find-asked.ts';
import { selectRows } from './select-rows.ts';
import { beginWatching, cutRun, extendRun, forgetUnasked } from './watch-run.ts';

export interface WalletsWatcherOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Between two looks at which wallets of a chain nobody asks for any more. Milliseconds. */
const FORGET_EVERY_MS = 600_000;
const NOTHING = { transactions: false, internalTransfers: false };
const PROVEN_TRANSACTIONS = { transactions: true, provenTransactions: true, internalTransfers: false };

/**
 * Searches every block that is followed for the wallets that somebody asked for, on chains that keep only their transactions. As soon as there
 * is one, blocks are read with their transactions, which takes no further call. Nothing of it is held in memory: what was committed before a block
 * counts for it, whoever leads the chain.
 */
export function createWalletsWatcher({ database, clock, logger }: WalletsWatcherOptions): BlockWatcher {
  /** Whether any wallet is asked for, as the last look said: the next commit of the chain looks again. */
  const isAnyAsked = new Map<ChainId, boolean>();
  const forgetAt = new Map<ChainId, number>();
  const searchable = createSearchable(logger);

  return {
    async needs(chain) {
      if (!watches(chain)) return NOTHING;
      const known = isAnyAsked.get(chain.id) ?? (await hasAsked(database, chain));
      isAnyAsked.set(chain.id, known);
      return known ? PROVEN_TRANSACTIONS : NOTHING;
    },
    async committed(transaction, chain, blocks) {
      const [first] = blocks;
      if (!watches(chain) || first === undefined) return;
      if ((forgetAt.get(chain.id) ?? 0) <= clock.now()) {
        await forgetUnasked(transaction, chain.id);
        forgetAt.set(chain.id, clock.now() + FORGET_EVERY_MS);
      }
      const isAny = await beginWatching(transaction, chain.id, first.header.number);
      isAnyAsked.set(chain.id, isAny);
      if (!isAny) return;
      requireTransactions(chain, blocks);
      for (const run of runsOf(searchable(chain, blocks))) await extendRun(transaction, chain.id, run);
    },
    rolledBack: (transaction, chain, ancestor) => cutRun(transaction, chain.id, ancestor),
    rows: {
      datasets: ({ transactions: { mode }, internalTransfers: kept }) => [
        ...(mode === 'all' ? [] : [transactions, accountTransactions]),
        // Of wallets whose balances were searched.
        ...(kept === 'all' ? [] : [internalTransfers]),
      ],
      async select(transaction, chain, blocks) {
        if (isAnyAsked.get(chain.id) !== true) return [];
        return selectRows(chain, searchable(chain, blocks), (accounts) => findAsked(transaction, chain, accounts));
      },
    },
  };
}

function watches({ transactions: { mode } }: Chain): boolean {
  return mode === 'wallets';
}

async function hasAsked(database: Database, { id }: Chain): Promise<boolean> {
  const [found] = await database.query('SELECT FROM asked_wallets WHERE chain_id = $1 LIMIT 1', [id]);
  return found !== undefined;
}

/** @throws WatchNeedsChangedError where they were read before the first wallet was asked for */
function requireTransactions(chain: Chain, blocks: readonly WatchedBlock[]): void {
  for (const { header, parts } of blocks)
    if (parts?.transactions === undefined)
      throw new WatchNeedsChangedError({ chain: chain.key, block: header.number, lacks: 'proven transactions' });
}

/**
 * The blocks whose transactions can be told: not where every upstream's contradict the header, nor where a chain's nodes show what can't be read.
 * Wallets lack those blocks, and say so.
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

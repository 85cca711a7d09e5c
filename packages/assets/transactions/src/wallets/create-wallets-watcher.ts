import type { Chain } from '@chainstead/chains';
import {
  type BlockRange,
  type ChainId,
  type Clock,
  InvalidPrimitiveError,
  type Logger,
  mergeRanges,
} from '@chainstead/core';
import { type Database, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import {
  type BlockWatcher,
  executedTransactions,
  type WatchedBlock,
  WatchNeedsChangedError,
} from '@chainstead/sync';
import type { WholeBlock } from '@chainstead/sync/datasets';
import { internalTransfers } from '../internal-transfers/dataset.ts';
import { accountTransactions, transactions } from '../stored/datasets.ts';
import { findRequested, selectRows } from './block-store.ts';

export interface WalletsWatcherOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

const FORGET_EVERY_MS = 600_000;
const NOTHING = { transactions: false, internalTransfers: false };
const PROVEN_TRANSACTIONS = { transactions: true, provenTransactions: true, internalTransfers: false };

/** No state in memory: any process that leads the chain sees earlier requests. */
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
      const searched = searchable(chain, blocks).map(({ header }) => ({
        from: header.number,
        to: header.number,
      }));
      for (const run of mergeRanges(searched)) await extendRun(transaction, chain.id, run);
    },
    rolledBack: (transaction, chain, ancestor) => cutRun(transaction, chain.id, ancestor),
    rows: {
      datasets: ({ transactions: { mode }, internalTransfers: kept }) => [
        ...(mode === 'all' ? [] : [transactions, accountTransactions]),
        ...(kept === 'all' ? [] : [internalTransfers]),
      ],
      async select(transaction, chain, blocks) {
        if (isAnyRequested.get(chain.id) !== true) return [];
        return selectRows(chain, searchable(chain, blocks), (accounts) =>
          findRequested(transaction, chain, accounts),
        );
      },
    },
  };
}

function watches({ transactions: { mode } }: Chain): boolean {
  return mode === 'wallets';
}

/** @throws WatchNeedsChangedError if read before the first wallet was requested */
function requireTransactions(chain: Chain, blocks: readonly WatchedBlock[]): void {
  for (const { header, parts, leavesSenders } of blocks)
    if (parts?.transactions === undefined || leavesSenders === true)
      throw new WatchNeedsChangedError({ chain: chain.key, block: header.number, lacks: 'proven transactions' });
}

/** Without contradicted and unreadable blocks, which coverage excludes too. */
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

const FORGOTTEN_AFTER = sql`interval '30 days'`;
const FORGOTTEN_AT_ONCE = 100;

/** Blocks below `from` were committed before. Returns whether any wallet is requested. */
async function beginWatching(transaction: Transaction, chainId: ChainId, from: number): Promise<boolean> {
  const [row] = await transaction.query<{ isAny: boolean }>(
    sql`WITH begun AS (UPDATE tracked_wallets SET since_block = ${from} WHERE chain_id = ${chainId} AND since_block IS NULL RETURNING 1)
     SELECT EXISTS (SELECT FROM tracked_wallets WHERE chain_id = ${chainId}) AS "isAny", (SELECT count(*) FROM begun) AS begun`,
  );
  return row?.isAny ?? false;
}

async function extendRun(transaction: Transaction, chainId: ChainId, { from, to }: BlockRange): Promise<void> {
  const extended = await transaction.query(
    sql`UPDATE wallet_scan_state SET last_block = ${to} WHERE chain_id = ${chainId} AND last_block = ${from}::bigint - 1 RETURNING 1 AS extended`,
  );
  if (extended.length > 0) return;
  await transaction.query(keepSearched('tracked_wallets', chainId));
  await transaction.query(
    sql`UPDATE tracked_wallets SET since_block = ${from} WHERE chain_id = ${chainId} AND since_block < ${from}`,
  );
  await transaction.query(
    sql`INSERT INTO wallet_scan_state (chain_id, first_block, last_block) VALUES (${chainId}, ${from}, ${to})
     ON CONFLICT (chain_id) DO UPDATE SET first_block = excluded.first_block, last_block = excluded.last_block`,
  );
}

/** The replacements of removed blocks will be searched for every wallet. */
async function cutRun(transaction: Transaction, chainId: ChainId, ancestor: number): Promise<void> {
  await transaction.query(
    sql`UPDATE tracked_wallets SET since_block = ${ancestor}::bigint + 1 WHERE chain_id = ${chainId} AND since_block > ${ancestor}::bigint + 1`,
  );
  await transaction.query(
    sql`UPDATE wallet_scan_state SET first_block = least(first_block, ${ancestor}::bigint + 1), last_block = ${ancestor} WHERE chain_id = ${chainId} AND last_block > ${ancestor}`,
  );
}

async function forgetUnrequested(transaction: Transaction, chainId: ChainId): Promise<void> {
  const isOld = sql`chain_id = ${chainId} AND asked_at < now() - ${FORGOTTEN_AFTER}`;
  const gone = sql`DELETE FROM tracked_wallets WHERE ${isOld}
    AND wallet IN (SELECT wallet FROM tracked_wallets WHERE ${isOld} ORDER BY asked_at LIMIT ${rawSql(FORGOTTEN_AT_ONCE)})
    RETURNING chain_id, wallet, since_block`;
  await transaction.query(sql`WITH gone AS (${gone}) ${keepSearched('gone', chainId)}`);
}

/** For wallets whose run ends. `wallets`: a relation like `tracked_wallets`. */
function keepSearched(wallets: string, chainId: ChainId): Sql {
  return sql`INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block)
    SELECT chain_id, 'wallet', wallet, ${accountTransactions.name}, greatest(since_block, first_block), last_block
      FROM ${rawSql(wallets)} JOIN wallet_scan_state USING (chain_id)
     WHERE chain_id = ${chainId} AND since_block IS NOT NULL AND greatest(since_block, first_block) <= last_block
    ON CONFLICT DO NOTHING`;
}

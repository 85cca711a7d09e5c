import type { Chain } from '@chainstead/chains';
import type { Block, BlockHeader, Log, Receipt } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import type { BlockPart, InternalTransfer, PartProof } from '../dataset/whole-block.ts';
import type { DatasetLines } from './decoded-batch.ts';

export interface WatchNeeds {
  readonly transactions: boolean;
  /** By the transactions root and, if possible, signatures. @default false */
  readonly provenTransactions?: boolean;
  readonly internalTransfers: boolean;
}

export interface WatchedBlock {
  readonly header: BlockHeader;
  /** With transaction objects if they were needed. */
  readonly block: Block;
  readonly receipts: readonly Receipt[];
  readonly logs: readonly Log[];
  /** Null if they were not needed. */
  readonly internalTransfers: readonly InternalTransfer[] | null;
  /** Absent: not requested. */
  readonly parts?: Readonly<Partial<Record<BlockPart, PartProof>>>;
  /** Some senders may be wrong: no row of the datasets has them. @default false */
  readonly leavesSenders?: boolean;
}

interface WatchedRows {
  datasets(chain: Chain): readonly Dataset[];
  /** After {@link BlockWatcher.committed}, with the same blocks. */
  select(
    transaction: Transaction,
    chain: Chain,
    blocks: readonly WatchedBlock[],
  ): Promise<readonly DatasetLines[]>;
}

/** For every followed block inside the transaction that commits it, never for backfilled ones. */
export interface BlockWatcher {
  needs(chain: Chain): Promise<WatchNeeds>;
  /** Long work before the transaction of these blocks. `committed` gets the same array, and checks what it finds. */
  prepare?(chain: Chain, blocks: readonly WatchedBlock[], unmatched?: ReadonlySet<number>): Promise<void>;
  /**
   * Under the commit lock, after the rows of the blocks (ascending, linked, never empty).
   * @param unmatched with streams, because that ended the process @default none
   * @throws WatchNeedsChangedError if the blocks lack parts that are needed now
   */
  committed(
    transaction: Transaction,
    chain: Chain,
    blocks: readonly WatchedBlock[],
    unmatched?: ReadonlySet<number>,
  ): Promise<void>;
  /** Before blocks are removed, in the transaction that replaces them. */
  rolledBack(transaction: Transaction, chain: Chain, ancestor: number): Promise<void>;
  /** @default none */
  readonly rows?: WatchedRows;
}

export function joinWatchers(watchers: readonly BlockWatcher[]): BlockWatcher {
  return {
    async needs(chain) {
      const needs: WatchNeeds[] = [];
      for (const watcher of watchers) needs.push(await watcher.needs(chain));
      return {
        transactions: needs.some(({ transactions }) => transactions),
        provenTransactions: needs.some(({ provenTransactions }) => provenTransactions === true),
        internalTransfers: needs.some(({ internalTransfers }) => internalTransfers),
      };
    },
    async prepare(chain, blocks, unmatched) {
      for (const watcher of watchers) await watcher.prepare?.(chain, blocks, unmatched);
    },
    async committed(transaction, chain, blocks, unmatched) {
      for (const watcher of watchers) await watcher.committed(transaction, chain, blocks, unmatched);
    },
    async rolledBack(transaction, chain, ancestor) {
      for (const watcher of watchers) await watcher.rolledBack(transaction, chain, ancestor);
    },
    rows: {
      datasets: (chain) => watchers.flatMap(({ rows }) => rows?.datasets(chain) ?? []),
      async select(transaction, chain, blocks) {
        const selected = [];
        for (const { rows } of watchers)
          if (rows !== undefined) selected.push(...(await rows.select(transaction, chain, blocks)));
        return selected;
      },
    },
  };
}

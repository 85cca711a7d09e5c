import type { Chain } from '@chainstead/chains';
import type { Block, BlockHeader, Log, Receipt } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import type { BlockPart, InternalTransfer, PartProof } from '../dataset/whole-block.ts';
import type { DatasetLines } from './decoded-batch.ts';

/** In addition to header, receipts and logs. Each part costs node calls. */
export interface WatchNeeds {
  readonly transactions: boolean;
  /** By the transactions root and, if the chain has them, signatures. @default false */
  readonly provenTransactions?: boolean;
  /** From traces. */
  readonly internalTransfers: boolean;
}

/** Proven as far as the chain allows. */
export interface WatchedBlock {
  readonly header: BlockHeader;
  /** With transaction objects if they were needed. */
  readonly block: Block;
  readonly receipts: readonly Receipt[];
  readonly logs: readonly Log[];
  /** Null if they were not needed. */
  readonly internalTransfers: readonly InternalTransfer[] | null;
  /** Absent: transactions and traces were not requested. */
  readonly parts?: Readonly<Partial<Record<BlockPart, PartProof>>>;
}

/** Rows of datasets not indexed in full. */
export interface WatchedRows {
  /** A reorg removes rows of these datasets, and retention applies to them. */
  datasets(chain: Chain): readonly Dataset[];
  /** After {@link BlockWatcher.committed}, with the same blocks. */
  select(transaction: Transaction, chain: Chain, blocks: readonly WatchedBlock[]): Promise<readonly DatasetLines[]>;
}

/** Called for every followed block inside the transaction that commits it, never for backfilled ones. */
export interface BlockWatcher {
  /** Called now and then before blocks are read. Must be cheap. */
  needs(chain: Chain): Promise<WatchNeeds>;
  /**
   * Called after the rows of the blocks (ascending, linked, never empty) were written, under the chain's commit lock.
   * @param unmatched blocks that are not matched with streams, because that ended the process. @default none
   * @throws WatchNeedsChangedError if the blocks lack parts needed by now: they are read again
   */
  committed(
    transaction: Transaction,
    chain: Chain,
    blocks: readonly WatchedBlock[],
    unmatched?: ReadonlySet<number>,
  ): Promise<void>;
  /** Before the blocks above `ancestor` are removed, in the transaction that replaces them. */
  rolledBack(transaction: Transaction, chain: Chain, ancestor: number): Promise<void>;
  /** @default none */
  readonly rows?: WatchedRows;
}

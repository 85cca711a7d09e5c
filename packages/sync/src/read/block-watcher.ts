import type { Chain } from '@chainstead/chains';
import type { Block, BlockHeader, Log, Receipt } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import type { BlockPart, InternalTransfer, PartProof } from '../dataset/whole-block.ts';
import type { DatasetLines } from './decoded-batch.ts';

/** Block parts that a watcher needs in addition to header, receipts and logs. Each costs node calls. */
export interface WatchNeeds {
  /** Transaction objects. */
  readonly transactions: boolean;
  /**
   * Whether transactions must be proven like for datasets: by the transactions root and, if the chain has them,
   * signatures. @default false
   */
  readonly provenTransactions?: boolean;
  /** Native token transfers between contracts, from traces. */
  readonly internalTransfers: boolean;
}

/** A followed block: whole, and proven as far as the chain allows. */
export interface WatchedBlock {
  readonly header: BlockHeader;
  /** With transaction objects if they were needed. */
  readonly block: Block;
  readonly receipts: readonly Receipt[];
  readonly logs: readonly Log[];
  /** Null if they were not needed. */
  readonly internalTransfers: readonly InternalTransfer[] | null;
  /** Proof levels of transactions and traces. Absent: not requested. */
  readonly parts?: Readonly<Partial<Record<BlockPart, PartProof>>>;
}

/** Rows of datasets not indexed in full that a watcher adds to the blocks it sees. */
export interface WatchedRows {
  /** Returns the datasets it adds rows of. A reorg removes their rows, and retention applies to them. */
  datasets(chain: Chain): readonly Dataset[];
  /** Returns the rows to add. Called after {@link BlockWatcher.committed}, with the same blocks. */
  select(transaction: Transaction, chain: Chain, blocks: readonly WatchedBlock[]): Promise<readonly DatasetLines[]>;
}

/**
 * Called for every followed block inside the transaction that commits it, never for backfilled ones. Its writes exist
 * exactly if the block's rows do.
 */
export interface BlockWatcher {
  /** Called now and then before blocks are read. Must be cheap. */
  needs(chain: Chain): Promise<WatchNeeds>;
  /**
   * Called after the rows of the blocks were written, under the chain's commit lock. Blocks are ascending, linked and
   * never empty.
   * @param unmatched blocks that are not matched with streams, because that ended the process. @default none
   * @throws WatchNeedsChangedError if the blocks lack parts needed by now: they are read again.
   */
  committed(
    transaction: Transaction,
    chain: Chain,
    blocks: readonly WatchedBlock[],
    unmatched?: ReadonlySet<number>,
  ): Promise<void>;
  /** Called before the blocks above `ancestor` are removed, in the transaction that replaces them. */
  rolledBack(transaction: Transaction, chain: Chain, ancestor: number): Promise<void>;
  /** @default none */
  readonly rows?: WatchedRows;
}

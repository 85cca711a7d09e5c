import type { Chain } from '@chainstead/chains';
import type { Address, Block, BlockHeader, Hash, Log, Receipt } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { Dataset } from './dataset.ts';
import type { DatasetLines } from './decoded-batch.ts';
import type { BlockPart, PartProof } from './whole-block.ts';

/** What of a block a watcher has to see besides header, receipts and logs. Reading it costs node calls. */
export interface WatchNeeds {
  /** Transaction objects. */
  readonly transactions: boolean;
  /** Whether those are proven as they are for datasets, by the header's transactions root and signatures where the chain has them. @default false */
  readonly provenTransactions?: boolean;
  /** Transfers of native currency between contracts, from traces. */
  readonly internalTransfers: boolean;
}

/** A transfer of native currency inside a transaction: a call of a contract that was not reverted, value above zero. */
export interface InternalTransfer {
  readonly transactionHash: Hash;
  readonly from: Address;
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  /** Gas given to the call; null where the trace does not say. */
  readonly gas: bigint | null;
}

/** A followed block as a watcher sees it: whole and proven as far as the chain allows. */
export interface WatchedBlock {
  readonly header: BlockHeader;
  /** With transaction objects when they were needed. */
  readonly block: Block;
  readonly receipts: readonly Receipt[];
  readonly logs: readonly Log[];
  /** Null when they were not needed. */
  readonly internalTransfers: readonly InternalTransfer[] | null;
  /** How far what was read besides logs is proven; absent: it was not asked for. */
  readonly parts?: Readonly<Partial<Record<BlockPart, PartProof>>>;
}

/** Rows that a watcher has written with the blocks that it sees, of datasets that are not kept whole. */
export interface WatchedRows {
  /** Of what datasets it has rows written of a chain's blocks. A reorganisation removes their rows, and they drop old ones as others do. */
  datasets(chain: Chain): readonly Dataset[];
  /** After {@link BlockWatcher.committed}, of the same blocks: what is to be written beside what is there. */
  select(transaction: Transaction, chain: Chain, blocks: readonly WatchedBlock[]): Promise<readonly DatasetLines[]>;
}

/**
 * Sees every block that is followed, from inside the transaction that commits it; never those of the backfill. What it
 * writes exists exactly when the block's rows do.
 */
export interface BlockWatcher {
  /** Asked before blocks are read, once in a while: cheap. */
  needs(chain: Chain): Promise<WatchNeeds>;
  /**
   * After the rows of the blocks were written, under the chain's commit lock. Ascending, linked, never empty.
   * @throws WatchNeedsChangedError when the blocks lack what by now is needed: they are read again.
   */
  committed(transaction: Transaction, chain: Chain, blocks: readonly WatchedBlock[]): Promise<void>;
  /** Before the blocks above `ancestor` leave the chain, in the transaction that replaces them. */
  rolledBack(transaction: Transaction, chain: Chain, ancestor: number): Promise<void>;
  /** @default none */
  readonly rows?: WatchedRows;
}

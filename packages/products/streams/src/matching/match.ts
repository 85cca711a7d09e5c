import type { Address, Hash, Hex } from '@chainstead/core';
import type { AbiItem, StreamTransaction } from '../stream.ts';

export interface MatchedLog {
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
  /** Watched addresses that caused the match; none if its topic0 alone matched. */
  readonly triggeredBy: readonly Address[];
}

/** With the transaction and receipt fields shown in webhooks, unchanged from the node's response. */
export interface MatchedTransaction extends StreamTransaction {
  readonly triggeredBy: readonly Address[];
}

export interface MatchedInternalTransaction {
  /** Position among the internal transfers of the block. */
  readonly index: number;
  readonly transactionHash: Hash;
  readonly from: Address;
  readonly to: Address;
  /** Wei, decimal digits. */
  readonly value: string;
  readonly gas: string | null;
  readonly triggeredBy: readonly Address[];
}

/** The items of a block that match a stream, in block order. Plain JSON: the same block always yields the same text. */
export interface Match {
  readonly streamId: string;
  readonly logs: readonly MatchedLog[];
  readonly transactions: readonly MatchedTransaction[];
  readonly internalTransactions: readonly MatchedInternalTransaction[];
  /** All watched addresses that caused an item above, in order of first occurrence. */
  readonly triggeredBy: readonly Address[];
  readonly events?: readonly AbiItem[];
}

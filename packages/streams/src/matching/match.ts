import type { Address, Hash, Hex } from '@chainstead/core';
import type { StreamTransaction } from '../stream.ts';

/** A log that matched. */
export interface MatchedLog {
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
  /** Watched addresses that caused it to be here; none when it came in by its topic0 alone. */
  readonly triggeredBy: readonly Address[];
}

/** A transaction that matched, with the fields of transaction and receipt that webhooks show, as the node answered them. */
export interface MatchedTransaction extends StreamTransaction {
  readonly triggeredBy: readonly Address[];
}

/** A transfer of native currency between contracts that matched. */
export interface MatchedInternalTransaction {
  readonly transactionHash: Hash;
  readonly from: Address;
  readonly to: Address;
  /** Wei, decimal digits. */
  readonly value: string;
  /** Decimal digits. */
  readonly gas: string | null;
  readonly triggeredBy: readonly Address[];
}

/**
 * What of a block matched a stream, in the block's order. Plain JSON: `JSON.stringify` and `parseMatch` take it to text and
 * back, and the same block gives the same text.
 */
export interface Match {
  readonly streamId: string;
  readonly logs: readonly MatchedLog[];
  readonly transactions: readonly MatchedTransaction[];
  readonly internalTransactions: readonly MatchedInternalTransaction[];
  /** Every watched address that caused anything above, in the order they first do. */
  readonly triggeredBy: readonly Address[];
}

/** The match that `JSON.stringify` made text of. Trusts the text: it is a column of ours. */
export function parseMatch(text: string): Match {
  return JSON.parse(text);
}

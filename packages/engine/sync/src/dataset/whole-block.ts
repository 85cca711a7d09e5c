/** Block parts that datasets can read in addition to filtered logs. */
import type { Address, BlockHeader, Hash, Hex, Log, Receipt } from '@chainstead/core';
import type { ProofLevel } from '@chainstead/proof';

/** Each part depends on those before it: traces are checked against transactions, transactions against receipts. */
export const BLOCK_PARTS = ['logs', 'transactions', 'internalTransactions'] as const;
export type BlockPart = (typeof BLOCK_PARTS)[number];

/** A transaction with its result. */
export interface ExecutedTransaction {
  readonly hash: Hash;
  readonly index: number;
  /** EIP-2718 type; 0 for legacy. */
  readonly type: number;
  /** As the upstream returned it: a transactions root covers the signature, not the sender. */
  readonly from: Address;
  /** Null for a contract creation. */
  readonly to: Address | null;
  readonly nonce: bigint;
  /** Wei. */
  readonly value: bigint;
  readonly gas: bigint;
  readonly input: Hex;
  /** Null before Byzantium, whose receipts have no status. */
  readonly succeeded: boolean | null;
  readonly gasUsed: bigint;
  readonly contractAddress: Address | null;
  readonly logs: readonly Log[];
  /** As the node returned it: prices, signature, access list. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly receipt: Receipt;
}

/** A call inside a transaction, from traces. `traceAddress` `[1, 0]`: the first call of the transaction's second call. */
export interface InternalTransaction {
  readonly transactionHash: Hash;
  readonly traceAddress: readonly number[];
  /** CALL, CALLCODE, DELEGATECALL, STATICCALL, CREATE, CREATE2 or SELFDESTRUCT. */
  readonly type: string;
  readonly from: Address;
  /** Null for a failed creation. */
  readonly to: Address | null;
  /** Wei moved to another account; 0 for call types that move none. */
  readonly value: bigint;
  /** Null if the trace lacks it. */
  readonly gas: bigint | null;
  /** Null if the trace lacks it, as for self-destructs and failed calls in flat traces. */
  readonly gasUsed: bigint | null;
  readonly input: Hex;
  readonly output: Hex;
  readonly error: string | null;
  /** It has no effect: it, or a call above it, failed. */
  readonly isReverted: boolean;
}

export interface WholeBlock {
  readonly header: BlockHeader;
  readonly transactions: readonly ExecutedTransaction[];
  /** In execution order; empty for datasets that don't read them. */
  readonly internalTransactions: readonly InternalTransaction[];
}

/** Or the reason why the part is unavailable. */
export type PartProof =
  | { readonly level: ProofLevel; readonly reason: string | null }
  | { readonly level: 'unavailable'; readonly reason: string; readonly isUnsupported: boolean };

/** A contract call with a value above zero that was not reverted. */
export interface InternalTransfer {
  readonly transactionHash: Hash;
  readonly from: Address;
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  readonly gas: bigint | null;
}

/** What of a block datasets can read besides filtered logs, and how far each part of it is proven. */
import type { Chain } from '@chainstead/chains';
import type { Address, BlockHeader, Hash, Hex, Log, Receipt } from '@chainstead/core';
import type { ProofLevel } from '@chainstead/proof';
import type { Dataset } from './dataset.ts';

/** In the order in which each rests on the ones before it: traces are checked against transactions, those against receipts. */
export const BLOCK_PARTS = ['logs', 'transactions', 'internalTransactions'] as const;
export type BlockPart = (typeof BLOCK_PARTS)[number];

/** A transaction with what came of it. */
export interface ExecutedTransaction {
  readonly hash: Hash;
  readonly index: number;
  /** EIP-2718 type; 0 for legacy. */
  readonly type: number;
  /** As the upstream says: a transactions root holds the signature, not the sender. */
  readonly from: Address;
  /** Null where it creates a contract. */
  readonly to: Address | null;
  readonly nonce: bigint;
  /** Wei. */
  readonly value: bigint;
  /** Gas limit. */
  readonly gas: bigint;
  readonly input: Hex;
  /** Null before Byzantium, whose receipts don't tell. */
  readonly succeeded: boolean | null;
  readonly gasUsed: bigint;
  /** The contract that it created. */
  readonly contractAddress: Address | null;
  readonly logs: readonly Log[];
  /** The transaction's JSON as the node answered it: prices, signature, access list. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly receipt: Receipt;
}

/** A call that was made inside a transaction, from traces. */
export interface InternalTransaction {
  readonly transactionHash: Hash;
  /** Its place in the tree of calls: `[1, 0]` is the first call of the second one that the transaction makes. As long as it is deep. */
  readonly traceAddress: readonly number[];
  /** CALL, CALLCODE, DELEGATECALL, STATICCALL, CREATE, CREATE2 or SELFDESTRUCT. */
  readonly type: string;
  readonly from: Address;
  /** Null for a creation that failed. */
  readonly to: Address | null;
  /** Wei that it moves to another account; 0 for types that move none. */
  readonly value: bigint;
  /** Gas given to it; null where the trace does not say. */
  readonly gas: bigint | null;
  /** Null where the trace does not say, as of contracts that end, and in flat traces of calls that failed. */
  readonly gasUsed: bigint | null;
  readonly input: Hex;
  /** What it returned; of a creation, the code of the contract. */
  readonly output: Hex;
  /** Why it failed; null where it did not. */
  readonly error: string | null;
  /** Whether it counts for nothing, since it failed or one of those that it was called by. */
  readonly isReverted: boolean;
}

/** A block as datasets see it that read more than logs. */
export interface WholeBlock {
  readonly header: BlockHeader;
  /** Those that were executed, in order. */
  readonly transactions: readonly ExecutedTransaction[];
  /** In the order of execution; empty for datasets that don't read them. */
  readonly internalTransactions: readonly InternalTransaction[];
}

/** How far a part of a block is proven, or why no dataset can have it. */
export type PartProof =
  | { readonly level: ProofLevel; readonly reason: string | null }
  | { readonly level: 'unavailable'; readonly reason: string; readonly isUnsupported: boolean };

/** The part that the dataset's rows rest on most: as far as that is proven, so are they. */
export function deepestPart(dataset: Dataset, chain: Chain): BlockPart {
  const reads = dataset.wholeBlocks?.reads(chain) ?? [];
  return BLOCK_PARTS.findLast((part) => part !== 'logs' && reads.includes(part)) ?? 'logs';
}

/** The parts that any of the datasets rests on most. */
export function partsOf(datasets: readonly Dataset[], chain: Chain): ReadonlySet<BlockPart> {
  return new Set(datasets.map((dataset) => deepestPart(dataset, chain)));
}

import type { Chain } from '@chainstead/chains';
import type { Address, BlockHeader, Hash, Hex, Log, Receipt } from '@chainstead/core';
import type { ProofLevel } from '@chainstead/proof';

/** Each is checked against those before it: traces against transactions, these against receipts. */
export const BLOCK_PARTS = ['logs', 'transactions', 'internalTransactions'] as const;
export type BlockPart = (typeof BLOCK_PARTS)[number];

export interface WholeBlockReading {
  /** Empty: only logs with its topics. A block that no node can trace is a gap. */
  reads(chain: Chain): readonly Exclude<BlockPart, 'logs'>[];
  /** False: rows lack the sender of a transaction with these logs, so it may be wrong. @default true */
  readonly storesSender?: StoresSender;
}

interface PartReading {
  readonly wholeBlocks?: WholeBlockReading | undefined;
}

/** Its proof level is that of the rows. */
export function deepestPart({ wholeBlocks }: PartReading, chain: Chain): BlockPart {
  const reads = wholeBlocks?.reads(chain) ?? [];
  return BLOCK_PARTS.findLast((part) => part !== 'logs' && reads.includes(part)) ?? 'logs';
}

export function partsOf(datasets: readonly PartReading[], chain: Chain): ReadonlySet<BlockPart> {
  return new Set(datasets.map((dataset) => deepestPart(dataset, chain)));
}

/** False: no row has the sender of a transaction with these logs. */
export type StoresSender = (logs: readonly Log[]) => boolean;

/** Parts and senders that datasets read of a block. */
interface BlockReading {
  readonly parts: ReadonlySet<BlockPart>;
  readonly storesSender: StoresSender;
}

export function readingOf(datasets: readonly PartReading[], chain: Chain): BlockReading {
  const whole = datasets.filter((dataset) => deepestPart(dataset, chain) !== 'logs');
  return {
    parts: partsOf(datasets, chain),
    storesSender: (logs) => whole.some(({ wholeBlocks }) => wholeBlocks?.storesSender?.(logs) ?? true),
  };
}

export interface ExecutedTransaction {
  readonly hash: Hash;
  readonly index: number;
  /** EIP-2718; 0: legacy. */
  readonly type: number;
  /** From the upstream: a transactions root covers the signature, not the sender. */
  readonly from: Address;
  /** Null for a contract creation. */
  readonly to: Address | null;
  readonly nonce: bigint;
  /** Wei. */
  readonly value: bigint;
  readonly gas: bigint;
  readonly input: Hex;
  /** Null before Byzantium: its receipts have no status. */
  readonly succeeded: boolean | null;
  readonly gasUsed: bigint;
  readonly contractAddress: Address | null;
  readonly logs: readonly Log[];
  readonly raw: Readonly<Record<string, unknown>>;
  readonly receipt: Receipt;
}

/** From traces. `traceAddress` `[1, 0]`: the first call of the transaction's second call. */
export interface InternalTransaction {
  readonly transactionHash: Hash;
  readonly traceAddress: readonly number[];
  /** CALL, CALLCODE, DELEGATECALL, STATICCALL, CREATE, CREATE2 or SELFDESTRUCT. */
  readonly type: string;
  readonly from: Address;
  /** Null for a failed creation. */
  readonly to: Address | null;
  /** Wei; 0 for call types that move none. */
  readonly value: bigint;
  /** Null if the trace lacks it. */
  readonly gas: bigint | null;
  /** Null if the trace lacks it, as for self-destructs. */
  readonly gasUsed: bigint | null;
  readonly input: Hex;
  readonly output: Hex;
  readonly error: string | null;
  /** This call, or one above it, failed. */
  readonly isReverted: boolean;
}

export interface WholeBlock {
  readonly header: BlockHeader;
  readonly transactions: readonly ExecutedTransaction[];
  /** In execution order; empty for datasets that don't read them. */
  readonly internalTransactions: readonly InternalTransaction[];
}

export type PartProof =
  | { readonly level: ProofLevel; readonly reason: string | null }
  | { readonly level: 'unavailable'; readonly reason: string; readonly isUnsupported: boolean };

export interface InternalTransfer {
  readonly transactionHash: Hash;
  readonly from: Address;
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  readonly gas: bigint | null;
}

import type { Address, Hash, Hex, Log } from '@chainstead/core';
import type { AbiItem, StreamTransaction } from '../stream.ts';

export interface MatchedLog {
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
  /** Watched addresses; none if topic0 alone matched. */
  readonly triggeredBy: readonly Address[];
}

export interface MatchedTransaction extends StreamTransaction {
  readonly triggeredBy: readonly Address[];
}

export interface MatchedInternalTransaction {
  readonly index: number;
  readonly transactionHash: Hash;
  readonly from: Address;
  readonly to: Address;
  /** Wei, decimal digits. */
  readonly value: string;
  readonly gas: string | null;
  readonly triggeredBy: readonly Address[];
}

/** In block order. Plain JSON: the same block always yields the same text. */
export interface Match {
  readonly streamId: string;
  readonly logs: readonly MatchedLog[];
  readonly transactions: readonly MatchedTransaction[];
  readonly internalTransactions: readonly MatchedInternalTransaction[];
  readonly triggeredBy: readonly Address[];
  readonly events?: readonly AbiItem[];
}

/** Items, and addresses that caused them. */
export function sizeOf({ logs, transactions, internalTransactions }: Match): number {
  return [logs, transactions, internalTransactions]
    .flat()
    .reduce((size, { triggeredBy }) => size + 1 + triggeredBy.length, 0);
}

export type WatchedAddresses = ReadonlyMap<Address, readonly string[]>;

export type NamedLogs = ReadonlyMap<Log, readonly { readonly name: string; readonly item: AbiItem | null }[]>;

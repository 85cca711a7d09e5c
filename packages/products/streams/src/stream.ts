import type { Address, ChainId, Hash } from '@chainstead/core';
import type { SelectorType, TriggerType } from './item-types.ts';

export interface AbiItem {
  readonly type: string;
  readonly name?: string | undefined;
  readonly anonymous?: boolean | undefined;
  readonly constant?: boolean | undefined;
  readonly payable?: boolean | undefined;
  readonly stateMutability?: string | undefined;
  readonly gas?: number | undefined;
  readonly inputs?: readonly AbiParameter[] | undefined;
  readonly outputs?: readonly AbiParameter[] | undefined;
}

export interface AbiParameter {
  readonly name: string;
  readonly type: string;
  readonly indexed?: boolean | undefined;
  readonly components?: unknown;
  readonly internalType?: string | undefined;
}

/** `{op: [field, value]}` or `{and | or: [filter, …]}` (docs/api/streams-matching.md#matching). */
export type StreamFilter = Readonly<Record<string, readonly unknown[]>>;

export interface AdvancedOption {
  readonly topic0: string;
  readonly filter?: StreamFilter | undefined;
  readonly includeNativeTxs?: boolean | undefined;
}

export interface NativeBalanceSelector {
  readonly selectors: readonly string[];
  readonly type: SelectorType;
}

export interface StreamTrigger {
  readonly type: TriggerType;
  readonly contractAddress: string;
  readonly functionAbi: AbiItem;
  readonly inputs?: readonly (string | readonly string[])[] | undefined;
  readonly topic0?: string | undefined;
  readonly callFrom?: string | undefined;
}

export type StreamStatus = 'active' | 'paused' | 'error' | 'terminated';

export interface StreamConfig {
  readonly webhookUrl: string;
  readonly description: string;
  readonly tag: string;
  readonly chainIds: readonly ChainId[];
  /** As given. Null and empty: none. */
  readonly topic0: readonly string[] | null;
  readonly abi: readonly AbiItem[] | null;
  readonly advancedOptions: readonly AdvancedOption[] | null;
  readonly triggers: readonly StreamTrigger[] | null;
  readonly getNativeBalances: readonly NativeBalanceSelector[];
  readonly allAddresses: boolean;
  readonly includeNativeTxs: boolean;
  readonly includeContractLogs: boolean;
  readonly includeInternalTxs: boolean;
  readonly includeAllTxLogs: boolean;
  readonly filterPossibleSpamAddresses: boolean;
  readonly demo: boolean;
  /** Addition to the hosted API: notices of blocks removed by a reorg. */
  readonly sendRemoved: boolean;
  /** Addition to the hosted API: contracts or events whose logs match. Null and empty: none. */
  readonly contracts: readonly string[] | null;
}

export interface Stream extends StreamConfig {
  readonly id: string;
  readonly status: StreamStatus;
  readonly statusMessage: string;
  readonly amountOfAddresses: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** As in the node's response. */
export interface StreamTransaction {
  readonly hash: Hash;
  readonly index: number;
  readonly from: Address;
  readonly to: Address | null;
  readonly transaction: Readonly<Record<string, unknown>>;
  readonly receipt: Readonly<Record<string, unknown>>;
  /** Wei, with blobs; null: unknown. Absent: stored by an earlier version. */
  readonly fee?: string | null;
}

import type { Address, Hash, Hex } from './primitives.ts';

/** Lower-case hexadecimal text keeps the hot path free of conversions. */
export interface Log {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  /** As the node gave it. It may repeat within a block on some chains, never in a transaction. */
  readonly logIndex: number;
  /** Unix seconds; null unless the upstream sends it in logs. */
  readonly blockTimestamp: number | null;
}

export interface BlockHeader {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
  /** 256 bytes; null on chains without one. */
  readonly logsBloom: Hex | null;
  readonly receiptsRoot: Hash | null;
  /** The node's JSON without transactions, for recomputing the hash. */
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface Block {
  readonly header: BlockHeader;
  readonly transactionHashes: readonly Hash[];
  readonly transactions: readonly Readonly<Record<string, unknown>>[] | null;
}

export interface Receipt {
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  /** EIP-2718 type; 0 for legacy. */
  readonly type: number;
  readonly cumulativeGasUsed: bigint;
  readonly logs: readonly Log[];
  readonly raw: Readonly<Record<string, unknown>>;
}

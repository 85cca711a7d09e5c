export type AptosNetwork = 'mainnet' | 'testnet';

/** As fullnodes' `/v1/transactions`: decimal strings. */
export interface AptosEvent {
  readonly guid: { readonly creation_number: string; readonly account_address: string };
  readonly sequence_number: string;
  readonly type: string;
  readonly data: unknown;
}

export interface AptosChange {
  /** `write_resource`, `delete_resource`, `write_table_item`, … */
  readonly type: string;
  readonly address?: string;
  readonly resource?: string;
  readonly data?: unknown;
}

export interface AptosTransaction {
  /** `genesis_transaction`, `user_transaction`, `block_metadata_transaction`, … */
  readonly type: string;
  readonly version: number;
  readonly accumulatorRootHash: string;
  /** Unix microseconds; null in genesis. */
  readonly timestamp: bigint | null;
  readonly success: boolean;
  readonly changes: readonly AptosChange[];
  readonly events: readonly AptosEvent[];
  /** User transactions only. */
  readonly sender: string | null;
  readonly sequenceNumber: string | null;
  readonly gasUsed: string | null;
  readonly gasUnitPrice: string | null;
  /** `0x1::coin::transfer`; null: no entry function. */
  readonly entryFunction: string | null;
}

/** As aptos-labs' indexer stores it. Genesis: the Unix epoch. */
export function wholeSeconds(microseconds: bigint | null): Date {
  return new Date(Number((microseconds ?? 0n) / 1_000_000n) * 1_000);
}

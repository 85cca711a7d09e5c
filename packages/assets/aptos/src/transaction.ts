export type AptosNetwork = 'mainnet' | 'testnet';

/** `/v1/transactions` of a fullnode's REST API: numbers are decimal strings. */
export interface AptosEvent {
  readonly guid: { readonly creation_number: string; readonly account_address: string };
  readonly sequence_number: string;
  readonly type: string;
  readonly data: unknown;
}

/** For a write set. Only resources have a Move type. */
export interface AptosChange {
  /** `write_resource`, `delete_resource`, `write_table_item`, … */
  readonly type: string;
  readonly address?: string;
  readonly resource?: string;
  readonly data?: unknown;
}

export interface AptosTransaction {
  /** `genesis_transaction`, `user_transaction`, `block_metadata_transaction`, `state_checkpoint_transaction`, … */
  readonly type: string;
  readonly version: number;
  readonly accumulatorRootHash: string;
  /** Microseconds since the Unix epoch; null in genesis. */
  readonly timestamp: bigint | null;
  readonly success: boolean;
  readonly changes: readonly AptosChange[];
  readonly events: readonly AptosEvent[];
  /** Only in user transactions. */
  readonly sender: string | null;
  readonly sequenceNumber: string | null;
  readonly gasUsed: string | null;
  readonly gasUnitPrice: string | null;
  /** `0x1::coin::transfer`; null if the payload is not an entry function. */
  readonly entryFunction: string | null;
}

/** Without the fraction, as aptos-labs' indexer stores it. Genesis, which has none: the Unix epoch. */
export function wholeSeconds(microseconds: bigint | null): Date {
  return new Date(Number((microseconds ?? 0n) / 1_000_000n) * 1_000);
}

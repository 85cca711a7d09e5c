/** The networks that can be indexed side by side. */
export type AptosNetwork = 'mainnet' | 'testnet';

/** An event of a transaction as a fullnode's REST API gives it (`/v1/transactions`): numbers are decimal strings. */
export interface AptosEvent {
  readonly guid: { readonly creation_number: string; readonly account_address: string };
  readonly sequence_number: string;
  readonly type: string;
  readonly data: unknown;
}

/** A change of a transaction's write set. Only resources carry a Move type. */
export interface AptosChange {
  /** `write_resource`, `delete_resource`, `write_table_item`, … */
  readonly type: string;
  readonly address?: string;
  /** Of a deleted resource: its Move type. */
  readonly resource?: string;
  /** Of a written resource: its Move type and fields. */
  readonly data?: unknown;
}

/** What is read of a transaction. Which members are there depends on its kind; a genesis transaction has no timestamp. */
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
  /** Of user transactions. */
  readonly sender: string | null;
  readonly sequenceNumber: string | null;
  readonly gasUsed: string | null;
  readonly gasUnitPrice: string | null;
  /** `0x1::coin::transfer`; null where the payload is no entry function. */
  readonly entryFunction: string | null;
}

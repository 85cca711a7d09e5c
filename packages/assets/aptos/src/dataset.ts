import type { Transaction } from '@chainstead/db';
import type { AptosNetwork, AptosTransaction } from './transaction.ts';

export type AptosDatasetName = 'coins' | 'transfers' | 'holders';

export interface AptosSlice {
  readonly network: AptosNetwork;
  readonly transactions: readonly AptosTransaction[];
  blockHeight(version: number): number;
}

export interface DecodedRows {
  readonly count: number;
  /** In the transaction that records the slice as covered. Idempotent, in any order of slices. @returns rows added */
  write(transaction: Transaction): Promise<number>;
}

/** Pure derivation, and writes that don't depend on the order of arrival. */
export interface AptosDataset {
  readonly name: AptosDatasetName;
  readonly tables: readonly string[];
  /** Every transaction that can add a row contains at least one. Null: any transaction can. */
  readonly markers: readonly string[] | null;
  readonly needsBlockHeights: boolean;
  /** Pure; never throws for data that a contract can write. */
  derive(slice: AptosSlice): DecodedRows;
}

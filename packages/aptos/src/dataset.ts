import type { Transaction } from '@chainstead/db';
import type { AptosNetwork, AptosTransaction } from './transaction.ts';

export type AptosDatasetName = 'coins' | 'transfers' | 'holders';

/** Consecutive transactions, and the block of each. */
export interface AptosSlice {
  readonly network: AptosNetwork;
  readonly transactions: readonly AptosTransaction[];
  /** Returns the block height of a version in the slice. */
  blockHeight(version: number): number;
}

/** The rows that a slice adds to a dataset, ready to be written. */
export interface DecodedRows {
  readonly count: number;
  /**
   * Writes them in the transaction that records the slice as covered. Idempotent, in any order of slices.
   * @returns number of rows added
   */
  write(transaction: Transaction): Promise<number>;
}

/** A part of Aptos that is indexed: pure derivation, and writes that don't depend on the order of arrival. */
export interface AptosDataset {
  readonly name: AptosDatasetName;
  /** Tables, for row counts in the status. */
  readonly tables: readonly string[];
  /** Byte strings; every transaction that can add a row contains at least one. Null: any transaction can. */
  readonly markers: readonly string[] | null;
  /** Whether `derive` reads block heights. */
  readonly needsBlockHeights: boolean;
  /** Pure; never throws for data that a contract can write. */
  derive(slice: AptosSlice): DecodedRows;
}

import type { Transaction } from '@chainstead/db';
import type { AptosNetwork, AptosTransaction } from './transaction.ts';

export type AptosDatasetName = 'coins' | 'transfers' | 'holders';

/** Consecutive transactions, and the block that each belongs to. */
export interface AptosSlice {
  readonly network: AptosNetwork;
  readonly transactions: readonly AptosTransaction[];
  /** Height of the block of a version of the slice. */
  blockHeight(version: number): number;
}

/** What a slice causes in a dataset, ready to be written. */
export interface DerivedRows {
  readonly count: number;
  /** Writes them in the transaction that records the slice as covered. Idempotent, in any order of slices. @returns rows added */
  write(transaction: Transaction): Promise<number>;
}

/** A part of Aptos that is indexed: pure derivation, and writing where the order of arrival does not matter. */
export interface AptosDataset {
  readonly name: AptosDatasetName;
  /** Tables, for row counts in the status. */
  readonly tables: readonly string[];
  /** Byte strings, one of which stands in every transaction that can cause a row; null: any transaction can. */
  readonly markers: readonly string[] | null;
  /** Whether `derive` asks for block heights. */
  readonly needsBlockHeights: boolean;
  /** Pure; never throws on what a contract could have written. */
  derive(slice: AptosSlice): DerivedRows;
}

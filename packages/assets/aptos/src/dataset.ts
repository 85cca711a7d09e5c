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
  /** In the slice's transaction. Idempotent, in any order. @returns rows added */
  write(transaction: Transaction): Promise<number>;
}

export interface AptosDataset {
  readonly name: AptosDatasetName;
  readonly tables: readonly string[];
  /** A transaction that adds rows has one. Null: any may. */
  readonly markers: readonly string[] | null;
  readonly needsBlockHeights: boolean;
  /** Pure; never throws for data of contracts. */
  derive(slice: AptosSlice): DecodedRows;
}

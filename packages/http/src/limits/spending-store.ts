import type { SlotSpending } from './rolling-window.ts';

/** Spending of one process from a bucket since its last report. */
export interface SpendingReport {
  readonly bucket: string;
  readonly amount: number;
  /** Slot length in milliseconds; a window has {@link SLOTS} slots. */
  readonly slotMs: number;
}

export interface StoredSpending {
  /** The store's clock, epoch milliseconds. */
  readonly now: number;
  /** Total spending within the window, by bucket. */
  readonly buckets: ReadonlyMap<string, readonly SlotSpending[]>;
}

/** Adds up the spending of all processes. Its methods fail with the driver's errors. */
export interface SpendingStore {
  /** Adds the amounts to the current slot. Buckets must differ. @returns the totals of the same buckets */
  exchange(reports: readonly SpendingReport[]): Promise<StoredSpending>;
  /**
   * Registers this process as counting and deletes expired rows.
   * @returns the number of processes that registered recently, including this one
   */
  attend(process: string): Promise<number>;
}

/** Time that a process counts after its last registration. Seconds. */
export const ATTENDANCE_SECONDS = 30;

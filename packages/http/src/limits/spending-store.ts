import type { SlotSpending } from './rolling-window.ts';

/** What one process has spent of a bucket since it last told of it. */
export interface SpendingReport {
  readonly bucket: string;
  readonly amount: number;
  /** Milliseconds of a slot of its window, which has {@link SLOTS} of them. */
  readonly slotMs: number;
}

export interface StoredSpending {
  /** The store's clock, epoch milliseconds. */
  readonly now: number;
  /** What all processes have spent within the window, by bucket. */
  readonly buckets: ReadonlyMap<string, readonly SlotSpending[]>;
}

/** Adds up the spending of all processes. Its methods fail with the driver's errors. */
export interface SpendingStore {
  /** Adds what was spent to the slot of the moment. Buckets must differ. @returns what is known of the same buckets then */
  exchange(reports: readonly SpendingReport[]): Promise<StoredSpending>;
  /** Says that this process counts, and forgets what is over. @returns how many processes have said so lately, itself included */
  attend(process: string): Promise<number>;
}

/** So long after it last said so a process counts, seconds. */
export const ATTENDANCE_SECONDS = 30;

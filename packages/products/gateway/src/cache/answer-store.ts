export interface AnswerAddress {
  readonly chainId: number;
  /** SHA-256 of the canonical call. */
  readonly callHash: Buffer;
}

export interface StoredAnswer extends AnswerAddress {
  /** JSON text. */
  readonly result: Buffer;
}

export interface AnswerStoreLimits {
  readonly days: number;
  /** Approximate. Removes the oldest first. @default 1 GiB */
  readonly bytes: number;
}

export const DEFAULT_STORE_LIMITS: AnswerStoreLimits = { days: 30, bytes: 1024 * 1024 * 1024 };

/** Final responses, for all processes and across restarts. Fails with the driver's errors. */
export interface AnswerStore {
  /** In request order; null if not stored. */
  read(wanted: readonly AnswerAddress[]): Promise<(Buffer | null)[]>;
  write(answers: readonly StoredAnswer[]): Promise<void>;
  /** In small steps. @returns the number of removed responses */
  prune(pause: () => Promise<void>): Promise<number>;
}

export interface AnswerAddress {
  readonly chainId: number;
  /** SHA-256 of the call in canonical form. */
  readonly callHash: Buffer;
}

export interface StoredAnswer extends AnswerAddress {
  /** JSON text. */
  readonly result: Buffer;
}

export interface AnswerStoreLimits {
  readonly days: number;
  /** Approximate bytes of all responses. The oldest are removed first. @default 1 GiB */
  readonly bytes: number;
}

export const DEFAULT_STORE_LIMITS: AnswerStoreLimits = { days: 30, bytes: 1024 * 1024 * 1024 };

/** Stores final responses for all processes and across restarts. Fails with the driver's errors. */
export interface AnswerStore {
  /** Returns results in request order; null if not stored. */
  read(wanted: readonly AnswerAddress[]): Promise<(Buffer | null)[]>;
  write(answers: readonly StoredAnswer[]): Promise<void>;
  /** Removes responses over the age or size limit, in small steps. @returns their number */
  prune(pause: () => Promise<void>): Promise<number>;
}

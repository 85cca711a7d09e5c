/** Where an answer is kept. */
export interface AnswerAddress {
  readonly chainId: number;
  /** SHA-256 of the call in canonical form. */
  readonly callHash: Buffer;
}

/** An answer that can't change any more. */
export interface StoredAnswer extends AnswerAddress {
  /** JSON text. */
  readonly result: Buffer;
}

/** What an {@link AnswerStore} keeps at most. */
export interface AnswerStoreLimits {
  /** Days that an answer is kept. @default 30 */
  readonly days: number;
  /** Bytes of all answers together, about. The oldest go first. @default 1 GiB */
  readonly bytes: number;
}

export const DEFAULT_STORE_LIMITS: AnswerStoreLimits = { days: 30, bytes: 1024 * 1024 * 1024 };

/** Final answers, for all processes and restarts. Fails with the driver's errors. */
export interface AnswerStore {
  /** In the order asked; null where nothing is kept. */
  read(wanted: readonly AnswerAddress[]): Promise<(Buffer | null)[]>;
  write(answers: readonly StoredAnswer[]): Promise<void>;
  /** Removes what is too old or too much, in small steps. @param pause awaited between two steps @returns answers removed */
  prune(pause: () => Promise<void>): Promise<number>;
}

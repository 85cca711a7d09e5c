export interface StoredHead {
  readonly head: number;
  readonly finalized: number | null;
}

/**
 * The heads that all API processes share. Every read that begins after `publish` resolved sees its result, in any
 * process; neither number ever falls. Both methods fail with the driver's errors.
 */
export interface HeadStore {
  read(chainId: number): Promise<StoredHead | null>;
  /** Raises the stored values, never lowers them. @returns the stored values afterwards */
  publish(chainId: number, head: StoredHead): Promise<StoredHead>;
}

export interface StoredHead {
  readonly head: number;
  readonly finalized: number | null;
}

/** A read that begins after `publish` resolved sees its result. Fails with the driver's errors. */
export interface HeadStore {
  read(chainId: number): Promise<StoredHead | null>;
  /** Never lowers. @returns the stored values afterwards */
  publish(chainId: number, head: StoredHead): Promise<StoredHead>;
}

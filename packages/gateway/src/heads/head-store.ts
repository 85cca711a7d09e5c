/** What all processes know of a chain's head. Block numbers. */
export interface StoredHead {
  readonly head: number;
  /** Null while no process knows of any finality. */
  readonly finalized: number | null;
}

/**
 * The heads that all API processes share. What `publish` resolved with is seen by every read that begins later, in any
 * process; neither number ever falls. Both fail with the driver's errors.
 */
export interface HeadStore {
  /** Null where nothing was published yet. */
  read(chainId: number): Promise<StoredHead | null>;
  /** Raises what is kept, never lowers it. @returns what is kept then */
  publish(chainId: number, head: StoredHead): Promise<StoredHead>;
}

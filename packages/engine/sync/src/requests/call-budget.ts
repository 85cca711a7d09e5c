/** Node calls that backfills may make for an API key (`ON_DEMAND_CALLS_PER_KEY`). */
export interface CallBudget {
  /** Taken before a turn, so that turns of several processes don't add up. */
  readonly callsPerTurn: number;
  /** @returns ms until the key may take as many; 0: they are counted */
  take(key: string, calls: number): Promise<number>;
  /** Difference between the calls that a turn made and those it took. */
  settle(key: string, calls: number): void;
}

/** Calls of one turn. */
export interface TurnCalls {
  /** The turn ends above it. */
  readonly max: number;
  made: number;
}

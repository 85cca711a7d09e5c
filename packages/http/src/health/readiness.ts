/** Whether the process can receive requests, or its chains are caught up. */
export interface Readiness {
  readonly ready: boolean;
  /** Reasons, one sentence each; empty if ready. */
  readonly reasons: readonly string[];
  /** Notes for the operator that don't prevent readiness. Default: none. */
  readonly notes?: readonly string[];
}

/** Whether the process may be sent requests, or its chains are caught up. */
export interface Readiness {
  readonly ready: boolean;
  /** Why not, one sentence each; empty when ready. */
  readonly reasons: readonly string[];
  /** What an operator should know although it is ready. Default: nothing. */
  readonly notes?: readonly string[];
}

/** Whether the process may be sent requests. */
export interface Readiness {
  readonly ready: boolean;
  /** Why not, one sentence each; empty when ready. */
  readonly reasons: readonly string[];
}

/** Requests per key in a rolling window, across all processes. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** Requests that one key may make in a rolling window, per process. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

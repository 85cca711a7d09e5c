/** Requests that one key may make in a rolling window, over all processes. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

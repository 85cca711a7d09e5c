/** How long to wait after a failed attempt. `attempt` counts from 1; the result is in milliseconds. */
export type Backoff = (attempt: number) => number;

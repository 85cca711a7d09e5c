/** What a handler is given to work on. */
export interface Job<Payload> {
  readonly id: string;
  readonly payload: Payload;
  /** From 1. */
  readonly attempt: number;
  /** Aborted when the process no longer waits for the handler: another worker will run the job again. */
  readonly signal: AbortSignal;
}

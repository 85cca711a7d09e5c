import type { Answer, RequestOptions, UpstreamPool } from './upstream-pool.ts';

export interface RawCall {
  readonly method: string;
  /** JSON text of the params array. */
  readonly params: string;
  /** Whether null may mean that the upstream lags. Then another one is tried before null is accepted. */
  readonly nullable: boolean;
  /** The block that an upstream must have reached for its response to count; null if the call names no block. */
  readonly block: number | null;
}

/** JSON text of a call's `result`: whole, or in chunks if it is too large to buffer. */
export type RawResult = Buffer | AsyncIterable<Buffer>;

export interface ForwardingPool extends UpstreamPool {
  /**
   * Large results come in chunks. After the first, no other upstream is tried: a fault ends the iteration.
   * @throws UpstreamsExhaustedError (retryable) after every upstream failed; RequestAbortedError
   * @throws RpcCallError for an error of the call itself, with the node's code, message and data
   */
  forward(call: RawCall, options?: RequestOptions): Promise<Answer<RawResult>>;
  /**
   * Sends once to every upstream that is not private (without these, to the private ones) and returns the hash.
   * The first acceptance wins; "already known" counts as one.
   * @throws RpcCallError, the first verdict, if all refuse it; UpstreamsExhaustedError if none was reached
   */
  broadcast(rawTransaction: string, options?: Pick<RequestOptions, 'signal' | 'timeoutMs'>): Promise<Answer<string>>;
}

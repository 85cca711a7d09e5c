import type { Answer, RequestOptions, UpstreamPool } from './upstream-pool.ts';

/** A call whose response is forwarded unparsed. */
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

/** A pool that also forwards client calls. */
export interface ForwardingPool extends UpstreamPool {
  /**
   * Returns the result as the upstream wrote it. Large results come in chunks. After the first chunk no other upstream
   * is tried, and a fault ends the iteration with an error.
   * @throws UpstreamsExhaustedError (retryable) after every upstream failed
   * @throws RpcCallError for an error of the call itself, with the node's code, message and data
   * @throws RequestAbortedError
   */
  forward(call: RawCall, options?: RequestOptions): Promise<Answer<RawResult>>;
  /**
   * Sends a signed transaction once to every upstream that is not marked private (to the private ones if there are no
   * others). The first acceptance wins; "already known" counts as one. Returns the hash.
   * @throws RpcCallError, the first upstream's verdict, if every upstream refuses it; UpstreamsExhaustedError if none
   * was reached
   */
  broadcast(rawTransaction: string, options?: Pick<RequestOptions, 'signal' | 'timeoutMs'>): Promise<Answer<string>>;
}

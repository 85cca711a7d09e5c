import type { Answer, RequestOptions, UpstreamPool } from './upstream-pool.ts';

/** A call whose answer is passed on as it came, unparsed. */
export interface RawCall {
  readonly method: string;
  /** JSON text of the parameters' array. */
  readonly params: string;
  /** Whether null may mean that the upstream lags: another one is asked before a null is believed. */
  readonly nullable: boolean;
  /** The block that an upstream must have reached for its answer to mean anything; null where no block is named. */
  readonly block: number | null;
}

/** JSON text of a call's `result`: whole, or in pieces where it is too large to be held. */
export type RawResult = Buffer | AsyncIterable<Buffer>;

/** A pool that also passes calls of others on. */
export interface ForwardingPool extends UpstreamPool {
  /**
   * The result as the upstream wrote it. Large ones come in pieces: once the first piece is there, no other upstream is
   * asked any more, and a fault ends the iteration with an error.
   * @throws UpstreamsExhaustedError (retryable) after every upstream failed; RpcCallError when the answer is an error of the
   * call itself, with the node's code, message and data; RequestAbortedError
   */
  forward(call: RawCall, options?: RequestOptions): Promise<Answer<RawResult>>;
  /**
   * Sends a signed transaction to every upstream that is not marked private (to the private ones where there are no
   * others), once each. The first that takes it wins; "already known" is as good. Its hash is the answer.
   * @throws RpcCallError, the first upstream's verdict, when every upstream refuses it; UpstreamsExhaustedError when none could be reached
   */
  broadcast(rawTransaction: string, options?: Pick<RequestOptions, 'signal' | 'timeoutMs'>): Promise<Answer<string>>;
}

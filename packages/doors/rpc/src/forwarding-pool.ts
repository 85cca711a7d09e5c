import type { Answer, RequestOptions, UpstreamPool } from './upstream-pool.ts';

export interface RawCall {
  readonly method: string;
  /** JSON array. */
  readonly params: string;
  /** Null may mean a lagging upstream: another one is tried. */
  readonly nullable: boolean;
  /** Must be reached by the upstream; null: none is named. */
  readonly block: number | null;
}

/** JSON text, in chunks if too large to buffer. */
export type RawResult = Buffer | AsyncIterable<Buffer>;

export interface ForwardingPool extends UpstreamPool {
  /**
   * After the first chunk no other upstream is tried: a fault ends the iteration.
   * @throws UpstreamsExhaustedError (retryable), RequestAbortedError, RpcCallError (the call's own)
   */
  forward(call: RawCall, options?: RequestOptions): Promise<Answer<RawResult>>;
  /**
   * To every public upstream once, else to the private ones. An acceptance or "already known" wins.
   * @throws RpcCallError if all refuse; UpstreamsExhaustedError if none was reached
   */
  broadcast(
    rawTransaction: string,
    options?: Pick<RequestOptions, 'signal' | 'timeoutMs'>,
  ): Promise<Answer<string>>;
}

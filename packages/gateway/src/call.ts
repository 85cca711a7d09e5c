import type { Chain } from '@chainstead/chains';
import type { ForwardingPool, RawResult } from '@chainstead/rpc';
import type { MethodFacts } from './method-table.ts';

/** A chain that the gateway offers. */
export interface GatewayChain {
  /** Path segment. */
  readonly slug: string;
  readonly chain: Chain;
  readonly pool: ForwardingPool;
  /** More than one upstream: `latest` is pinned to the pool's head. */
  readonly pinsHead: boolean;
  /** Blocks that one eth_getLogs may span. */
  readonly logRangeMax: number;
  /** `strict`: blocks, receipts and transactions are checked against their hashes and roots before they leave. */
  readonly integrity: 'none' | 'strict';
}

/** One call, its parameters validated. */
export interface Call {
  readonly method: MethodFacts;
  readonly params: readonly unknown[];
}

/** JSON-RPC's error object. */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What came of a call. */
export type Outcome =
  | {
      readonly ok: true;
      /** JSON text of the result. */
      readonly result: RawResult;
      /** Whether no upstream was asked for it. */
      readonly cached: boolean;
    }
  | { readonly ok: false; readonly error: RpcErrorObject };

/** Tells that nobody waits any more. What every AbortSignal can do, but these are made for every call and must cost less. */
export interface LeaveSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** What the calls of one HTTP request have in common: the head that their tags mean, read once when first needed. */
export interface RequestScope {
  readonly chain: GatewayChain;
  readonly signal: LeaveSignal | undefined;
  /** Filled by the first call that needs it. */
  head: Promise<PinnedHead> | null;
}

/** What `latest` and `finalized` mean during one request. */
export interface PinnedHead {
  readonly latest: number;
  readonly finalized: number | null;
}

/** Answers a call; at once where the answer is in memory, since a promise costs more than such an answer. Never rejects. */
export type AnswerCall = (call: Call, scope: RequestScope) => Outcome | Promise<Outcome>;

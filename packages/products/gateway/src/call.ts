import type { Chain } from '@chainstead/chains';
import type { ForwardingPool, RawResult } from '@chainstead/rpc';
import type { MethodFacts } from './methods/method-table.ts';
import type { RpcErrorObject } from './protocol/rpc-errors.ts';

export interface GatewayChain {
  /** Path segment. */
  readonly slug: string;
  readonly chain: Chain;
  readonly pool: ForwardingPool;
  /** More than one upstream: `latest` is pinned to the pool's head. */
  readonly pinsHead: boolean;
  readonly logRangeMax: number;
  /** `strict`: responses are checked against their hashes and roots before they are returned. */
  readonly integrity: 'none' | 'strict';
}

export interface Call {
  readonly method: MethodFacts;
  readonly params: readonly unknown[];
}

export type Outcome =
  | {
      readonly ok: true;
      readonly result: RawResult;
      readonly cached: boolean;
    }
  | { readonly ok: false; readonly error: RpcErrorObject };

/** Signals that no client waits any more. A subset of AbortSignal that is cheap to create for every call. */
export interface LeaveSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** State shared by the calls of one HTTP request: the head for their tags, read once at first use. */
export interface RequestScope {
  readonly chain: GatewayChain;
  readonly signal: LeaveSignal | undefined;
  head: Promise<PinnedHead> | null;
}

export interface PinnedHead {
  readonly latest: number;
  readonly finalized: number | null;
}

/** Synchronous if the response is in memory, since a promise costs more than such a response. Never rejects. */
export type HandleCall = (call: Call, scope: RequestScope) => Outcome | Promise<Outcome>;

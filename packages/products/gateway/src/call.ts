import type { Chain } from '@chainstead/chains';
import type { ForwardingPool, RawResult } from '@chainstead/rpc';
import type { MethodFacts } from './methods/method-table.ts';
import type { RpcErrorObject } from './protocol/rpc-errors.ts';

export interface GatewayChain {
  readonly slug: string;
  readonly chain: Chain;
  readonly pool: ForwardingPool;
  /** Several upstreams: `latest` is pinned to the pool's head. */
  readonly pinsHead: boolean;
  readonly logRangeMax: number;
  /** `strict`: responses are checked against hashes and roots first. */
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

/** Aborts when no client waits. Cheaper to create for every call than an AbortSignal. */
export interface LeaveSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export interface RequestScope {
  readonly chain: GatewayChain;
  readonly signal: LeaveSignal | undefined;
  head: Promise<PinnedHead> | null;
}

export interface PinnedHead {
  readonly latest: number;
  readonly finalized: number | null;
}

/** Synchronous from memory, since a promise costs more. Never rejects. */
export type HandleCall = (call: Call, scope: RequestScope) => Outcome | Promise<Outcome>;

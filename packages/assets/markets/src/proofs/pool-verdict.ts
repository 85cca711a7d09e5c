import type { Chain } from '@chainstead/chains';
import type { Address, ChainsteadError, Hash } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import type { PoolId } from '../events/pool-event.ts';
import type { ChainExchange, ChainExchanges } from '../exchanges/exchanges-of-chain.ts';
import type { ProvenPool } from '../exchanges/prove-pool.ts';

export interface SeenPool {
  readonly pool: PoolId;
  readonly emitter: Address;
  /** Used only if the pool has no getters of its tokens; null: unknown. */
  readonly tokens: readonly [Address, Address] | null;
}

export interface ProofContext {
  readonly chain: Chain;
  readonly upstreams: UpstreamPool;
  readonly exchanges: ChainExchanges;
  readonly block: { readonly number: number; readonly hash: Hash };
}

export type PoolVerdict =
  | { readonly verdict: 'proven'; readonly proven: ProvenPool }
  /** No known factory of the chain acknowledges the pool. Final. */
  | { readonly verdict: 'disproved' }
  /** A known exchange that has no getter for this pool: its creation event decides. Tokens are a hint. */
  | {
      readonly verdict: 'undecided';
      readonly exchange: ChainExchange;
      readonly tokens: readonly [Address, Address] | null;
    }
  /** No node returned what the proof needs. Retry later. */
  | { readonly verdict: 'unread'; readonly reason: ChainsteadError };

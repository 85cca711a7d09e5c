import type { Chain } from '@chainstead/chains';
import type { Address, ChainsteadError, Hash } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import type { PoolId } from '../events/pool-event.ts';
import type { ChainExchange, ChainExchanges } from '../exchanges/exchanges-of-chain.ts';
import type { ProvenPool } from '../exchanges/prove-pool.ts';

export interface SeenPool {
  readonly pool: PoolId;
  readonly emitter: Address;
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
  | { readonly verdict: 'disproved' }
  | {
      readonly verdict: 'undecided';
      readonly exchange: ChainExchange;
      readonly tokens: readonly [Address, Address] | null;
    }
  | { readonly verdict: 'unread'; readonly reason: ChainsteadError };

import type { GatewayChain } from '../call.ts';
import type { Subscriber } from '../subscriptions/client-subscriptions.ts';
import type { OpenScope } from './open-scope.ts';
import type { PoolStart } from './pool-start.ts';

/** A chain and the start of its pool. */
export interface ServedChain {
  readonly chain: GatewayChain;
  readonly start: PoolStart;
}

export interface RequestContext {
  readonly served: ServedChain;
  readonly scope: OpenScope;
  /** Principal's id. */
  readonly keyId: string;
  /** Subscriptions of the socket that sent it; null over HTTP. */
  readonly subscriber: Subscriber | null;
}

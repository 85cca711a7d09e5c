import type { GatewayChain } from '../call.ts';
import type { Subscriber } from '../subscriptions/client-subscriptions.ts';
import type { OpenScope } from './open-scope.ts';
import type { PoolStart } from './pool-start.ts';

export interface ServedChain {
  readonly chain: GatewayChain;
  readonly start: PoolStart;
}

export interface RequestContext {
  readonly served: ServedChain;
  readonly scope: OpenScope;
  readonly keyId: string;
  readonly subscriber: Subscriber | null;
}

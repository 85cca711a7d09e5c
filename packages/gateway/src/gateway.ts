import type { RawHandler, RouteModule, UpgradeHandler } from '@chainstead/http';
import { type AnsweringOptions, createAnswering } from './answering/create-answering.ts';
import { createFilterStore } from './filters/filter-store.ts';
import { createFilters } from './filters/filters.ts';
import { createGatewayServer, type GatewayServerOptions } from './gateway-server.ts';
import { createStrictForward } from './integrity/strict-forward.ts';
import { createGatewayRoutes } from './routes.ts';
import type { CallDirectly } from './serving/call-directly.ts';
import { createChainFeeds } from './subscriptions/chain-feeds.ts';

export interface GatewayOptions
  extends Omit<GatewayServerOptions, 'answer' | 'feeds' | 'filters'>,
    Pick<AnsweringOptions, 'redisUrl' | 'settings' | 'clientVersion'> {}

export interface Gateway {
  /** Takes the JSON-RPC requests. For `serveApi`. */
  readonly handler: RawHandler;
  /** Takes the WebSockets. For `serveApi`. */
  readonly upgrades: UpgradeHandler;
  /** What needs no key: which methods and chains there are. For the open routes of `createApi`. */
  readonly routes: RouteModule;
  /** Makes calls for other routes of this process. */
  readonly call: CallDirectly;
  /** Writes what is still to be kept. To be called when no request is under way; pools and database stay open. */
  close(): Promise<void>;
}

/** On all chains together. */
const FILTERS_PER_KEY = 500;

/**
 * The JSON-RPC gateway over the given chains: the protocol (`serving/`) in front of heads, cache and upstreams
 * (`answering/`). Pools start with the first call to each; they are closed by their owner.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const answering = createAnswering({ ...options, strictForward: createStrictForward });
  const feeds = createChainFeeds({ ...options, headFloor: answering.headFloor });
  const store = createFilterStore({ database: options.database, filtersPerKey: FILTERS_PER_KEY });
  const filters = createFilters({ ...options, store, feeds });
  const server = createGatewayServer({ ...options, answer: answering.answer, feeds, filters });
  return {
    handler: server.handler,
    upgrades: server.upgrades,
    routes: createGatewayRoutes(options),
    call: server.call,
    async close() {
      filters.close();
      feeds.close();
      await server.close();
      await answering.close();
    },
  };
}

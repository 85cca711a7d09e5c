import type { RouteModule } from '@chainstead/http';
import type { RawHandler, UpgradeHandler } from '@chainstead/http/server';
import { type CallHandlerOptions, createCallHandler } from './calls/create-call-handler.ts';
import { createFilterStore } from './filters/filter-store.ts';
import { createFilters } from './filters/filters.ts';
import { createGatewayServer, type GatewayServerOptions } from './gateway-server.ts';
import { createStrictForward } from './integrity/strict-forward.ts';
import { createGatewayRoutes } from './routes.ts';
import type { CallDirectly } from './serving/call-directly.ts';
import { createChainFeeds } from './subscriptions/pending-feed.ts';

export interface GatewayOptions
  extends Omit<GatewayServerOptions, 'answer' | 'feeds' | 'filters'>,
    Pick<CallHandlerOptions, 'settings' | 'clientVersion'> {}

export interface Gateway {
  readonly handler: RawHandler;
  readonly upgrades: UpgradeHandler;
  /** They need no key. For the open routes of `createApi`. */
  readonly routes: RouteModule;
  readonly call: CallDirectly;
  /** Writes pending data. No request may be in progress; pools and database stay open. */
  close(): Promise<void>;
}

const FILTERS_PER_KEY = 500;

/** The protocol (`serving/`) before heads, cache and upstreams (`calls/`). */
export function createGateway(options: GatewayOptions): Gateway {
  const answering = createCallHandler({ ...options, strictForward: createStrictForward });
  const feeds = createChainFeeds({ ...options, headFloor: answering.headFloor });
  const store = createFilterStore(options.database, FILTERS_PER_KEY);
  const filters = createFilters({
    ...options,
    store,
    feeds,
    charactersAtOnce: options.settings?.filterCharacters,
  });
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

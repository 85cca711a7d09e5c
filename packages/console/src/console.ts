import type { Chain, ChainRegistry } from '@chainstead/chains';
import type { Clock, Hash, Logger } from '@chainstead/core';
import type { Database, DiskPlace } from '@chainstead/db';
import {
  type ApiApp,
  type ConfiguredKey,
  createInnerApi,
  type KeyStore,
  loadServerSecret,
  type RouteModule,
  type SharedLimits,
} from '@chainstead/http';
import type { NameService } from '@chainstead/names';
import type { PictureReader } from '@chainstead/nft';
import type { HashPlace } from '@chainstead/state';
import type { StreamOperations } from '@chainstead/streams';
import { loadConsoleAssets } from './assets/console-assets.ts';
import { createConsoleApp } from './console-app.ts';
import { page } from './layout/page.ts';
import type { RangeWorkOffer } from './pages/jobs/job-chains.ts';
import { overviewView } from './pages/overview/overview-view.ts';
import { createOverviewSource, type OverviewOptions } from './pages/overview/read-overview.ts';
import { PAGES } from './pages/registry.ts';
import { bounded, type NodeTest } from './pages/upstreams/node-test.ts';
import { createUpstreamsSource } from './pages/upstreams/read-upstreams.ts';
import type { ConfiguredUpstream } from './pages/upstreams/upstream-row.ts';
import { createSessionCookie } from './sessions/session-cookie.ts';
import { createSessionStore } from './sessions/session-store.ts';
import { warmUp } from './warm-up.ts';

export interface ConsoleOptions extends Omit<OverviewOptions, 'database' | 'registry'> {
  /** Of the process, not of a request: live parts outlive theirs. */
  readonly database: Database;
  readonly keys: KeyStore;
  /** `API_KEYS`. */
  readonly configured: readonly ConfiguredKey[];
  /** Where attempts to sign in are counted. */
  readonly sharedLimits: SharedLimits;
  readonly registry: ChainRegistry;
  readonly streams: StreamOperations;
  /** Nodes of all chains that this process may ask. */
  readonly upstreams: readonly ConfiguredUpstream[];
  /** Tries a node that somebody names. */
  readonly nodeTest: NodeTest;
  /** What is looked up where. */
  readonly lookUp: {
    /** The data routes of the API: tables show what these answer. */
    readonly routes: readonly RouteModule[];
    /** As `placeOfHash`, of the process's own questions. */
    placeOf(chain: Chain, hash: Hash): Promise<HashPlace | null | undefined>;
    readonly pictures: PictureReader;
    /** Whose contracts workers can ask for names. */
    readonly nameServices: readonly NameService[];
  };
  readonly disk: DiskPlace;
  /** How history of a chain is read: `BACKFILL_PROOF`. */
  readonly backfillProofOf: RangeWorkOffer['backfillProofOf'];
  readonly version: string;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** The console of an API process. */
export interface Console {
  /** To be added in front of the key check: it has a check of its own. */
  readonly routes: RouteModule;
  /** To be awaited before anybody is served. @param api with its routes */
  warmUp(api: ApiApp): Promise<void>;
  /** Ends the live parts of pages, which would keep the server from closing. */
  close(): void;
}

/** The console at `/console`. Makes the secret that signs its cookies when there is none yet. */
export async function createConsole(options: ConsoleOptions): Promise<Console> {
  const { database, keys, registry, disk, streams, logger, clock } = options;
  const secret = await loadServerSecret(database, 'console');
  const closing = new AbortController();
  const sessions = createSessionStore({ database, configured: options.configured, secret });
  const overview = createOverviewSource(options);
  const upstreams = createUpstreamsSource({ database, overview, configured: options.upstreams });
  const nodeTest = bounded(options.nodeTest);
  const shared = {
    database,
    keys,
    sessions,
    registry,
    overview,
    upstreams,
    nodeTest,
    streams,
    disk,
    rangeWork: options,
    logger,
    clock,
  };
  const assets = await loadConsoleAssets();
  return {
    routes: (api, dependencies) => {
      const { routes, ...readers } = options.lookUp;
      const lookUp = {
        chains: options.chains,
        networks: options.aptos.networks,
        data: createInnerApi(routes, dependencies),
        reads: dependencies.reads,
        ...readers,
      };
      const app = createConsoleApp({
        services: { ...shared, lookUp },
        pages: PAGES,
        cookie: createSessionCookie(secret),
        assets,
        sharedLimits: options.sharedLimits,
        version: options.version,
        closing: closing.signal,
      });
      api.route('/console', app);
    },
    warmUp: (api) => {
      const frame = { title: 'Overview', path: '', menu: [], assets, version: options.version, viewer: null };
      const firstPage = async () => page({ ...frame, body: overviewView(await overview.readAfresh()) });
      return warmUp(api, { firstPage, clock, logger });
    },
    close: () => closing.abort(),
  };
}

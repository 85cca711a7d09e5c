import { errorText, settlesWithin } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import type { ApiApp, ConfiguredKey, RouteModule } from '@chainstead/http';
import { createInnerApi, loadServerSecret, type SharedLimits } from '@chainstead/http/server';
import { loadConsoleAssets } from './assets/console-assets.ts';
import { createConsoleApp } from './console-app.ts';
import type { ConsoleServices, ExplorerServices } from './console-page.ts';
import type { Html } from './layout/html.ts';
import { page } from './layout/page.ts';
import type { RangeWorkOffer } from './pages/jobs/job-form.ts';
import { overviewView } from './pages/overview/overview-page.ts';
import { createOverviewSource, type OverviewOptions } from './pages/overview/read-overview.ts';
import { PAGES } from './pages/registry.ts';
import { bounded } from './pages/upstreams/node-test.ts';
import { type ConfiguredUpstream, createUpstreamsSource } from './pages/upstreams/read-upstreams.ts';
import { createSessionCookie } from './sessions/require-session.ts';
import { createSessionStore } from './sessions/session-store.ts';

export interface ConsoleOptions
  extends Omit<OverviewOptions, 'clock'>,
    Pick<ConsoleServices, 'keys' | 'streams' | 'nodeTest' | 'sql' | 'disk' | 'logger' | 'clock'> {
  readonly configured: readonly ConfiguredKey[];
  readonly sharedLimits: SharedLimits;
  readonly upstreams: readonly ConfiguredUpstream[];
  readonly explorer: Omit<ExplorerServices, 'chains' | 'networks' | 'data' | 'reads'> & {
    /** Tables show the responses of these routes. */
    readonly routes: readonly RouteModule[];
  };
  readonly backfillProofOf: RangeWorkOffer['backfillProofOf'];
  readonly version: string;
  readonly documentationUrl?: string | null;
}

export interface Console {
  /** Add it before the key check: the console has its own. */
  readonly routes: RouteModule;
  /** Call it before the server accepts requests. */
  warmUp(api: ApiApp): Promise<void>;
  /** Ends live parts, which would keep the server from closing. */
  close(): void;
}

export async function createConsole(options: ConsoleOptions): Promise<Console> {
  const { database, keys, registry, disk, streams, sql, logger, clock } = options;
  const secret = await loadServerSecret(database, 'console');
  const closing = new AbortController();
  const sessions = createSessionStore(database, options.configured, secret);
  const overview = createOverviewSource(options);
  const upstreams = createUpstreamsSource(database, overview, options.upstreams);
  const nodeTest = bounded(options.nodeTest);
  const local = { database, sessions, overview, upstreams, nodeTest, rangeWork: options };
  const chainName = (id: number): string => registry.find(id)?.key ?? String(id);
  const shared = { ...local, keys, registry, chainName, streams, sql, disk, logger, clock };
  const assets = await loadConsoleAssets();
  return {
    routes: (api, dependencies) => {
      const { routes, ...readers } = options.explorer;
      const explorer = {
        chains: options.chains,
        networks: options.aptos.networks,
        data: createInnerApi(routes, dependencies),
        reads: dependencies.reads,
        ...readers,
      };
      const app = createConsoleApp({
        services: { ...shared, explorer },
        pages: PAGES,
        cookie: createSessionCookie(secret),
        assets,
        sharedLimits: options.sharedLimits,
        version: options.version,
        documentationUrl: options.documentationUrl ?? null,
        closing: closing.signal,
      });
      api.route('/console', app);
    },
    warmUp: (api) => {
      const frame = { title: 'Overview', path: '', menu: [], assets, version: options.version, viewer: null };
      const firstPage = async () => {
        const [read] = await Promise.all([overview.readAfresh(), overview.recent()]);
        return page({ ...frame, body: overviewView(read) });
      };
      return warmUp(api, firstPage, options);
    },
    close: () => closing.abort(),
  };
}

const WAIT_MS = 3_000;

const TIMES = 5;

/** Connects, plans, compiles: the first page need not wait. Its failure is harmless. */
async function warmUp(
  api: Pick<ApiApp, 'router'>,
  firstPage: () => Promise<Html>,
  { logger }: ConsoleOptions,
): Promise<void> {
  await settlesWithin(work(), WAIT_MS);

  async function work(): Promise<void> {
    try {
      api.router.match('GET', '/console');
      for (let time = 0; time < TIMES; time++) await firstPage();
    } catch (error) {
      const message = 'Console warm-up failed; the first page takes longer';
      logger[failureLevel(error)]({ error: errorText(error) }, message);
    }
  }
}

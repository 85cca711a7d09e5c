import { createChainRegistry } from '@chainstead/chains';
import { createLogger, createMetricsRegistry, type Registry, silentLogger, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { ALL_SCOPES, type KeyScopes, type Principal } from '@chainstead/http';
import { type ApiServer, createRawGate, type KeyStore, type SharedLimits } from '@chainstead/http/server';
import type { ForwardingPool } from '@chainstead/rpc';
import { type Closable, closeOf } from '@chainstead/testkit';
import type { GatewayChain, HandleCall } from '../call.ts';
import type { Filters } from '../filters/filters.ts';
import { createGatewayServer, type GatewayLimits, type GatewayServer } from '../gateway-server.ts';
import { createGatewayRoutes } from '../routes.ts';
import type { ChainFeeds } from '../subscriptions/pending-feed.ts';
import { roomyLimits, serveGateway } from './serve-gateway.ts';

/** A gateway behind a real server, with a call handler from the test. */
export interface GatewayStage extends Closable {
  readonly url: string;
  readonly server: ApiServer;
  readonly gateway: GatewayServer;
  readonly metrics: Registry;
  /** Every line that was logged. */
  readonly logLines: readonly string[];
  /** Sends a body to a chain. */
  post(body: unknown, options?: PostOptions): Promise<Response>;
}

export interface PostOptions {
  readonly slug?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface StageOptions {
  readonly answer: HandleCall;
  /** Accepted keys; none: an open server. */
  readonly keys?: readonly string[];
  /** Scopes of the keys. Default: all. */
  readonly scopes?: KeyScopes;
  readonly limits?: Partial<GatewayLimits>;
  readonly sharedLimits?: SharedLimits;
  readonly logRangeMax?: number;
  readonly database?: Database;
  readonly startPool?: () => Promise<void>;
  /** Default: `debug`. */
  readonly logLevel?: string;
  readonly corsOrigins?: '*' | readonly string[];
  readonly offersTraces?: boolean;
}

export const STAGE_KEY = '0123456789abcdef0123456789abcdef';

/** Returns a synchronous result. */
export function result(value: unknown, cached = true): Awaited<ReturnType<HandleCall>> {
  return { ok: true, result: Buffer.from(JSON.stringify(value)), cached };
}

const explainUnoffered = (slug: string): string => `Chain ${slug} is not offered`;

export async function startGatewayStage(options: StageOptions): Promise<GatewayStage> {
  await using parts = new AsyncDisposableStack();
  const logLines: string[] = [];
  const logger = createLogger({
    level: options.logLevel ?? 'debug',
    destination: { write: (line) => void logLines.push(line) },
  });
  const metrics = createMetricsRegistry();
  const database = options.database ?? unusedDatabase();
  const keys = fixedKeys(options.keys ?? [], options.scopes ?? ALL_SCOPES);
  const cors = { origins: options.corsOrigins ?? ('*' as const) };
  const host = '127.0.0.1';
  const limits = roomyLimits(options.limits);
  const { offersTraces = false } = options;
  const chains = stageChains(options);
  const gateway = createGatewayServer({
    chains,
    answer: options.answer,
    feeds: noFeeds(),
    filters: noFilters(),
    explainUnoffered,
    database,
    keys,
    gate: createRawGate({ host, keys, cors, logger, metrics }),
    limits,
    offersTraces,
    ...(options.sharedLimits !== undefined && { sharedLimits: options.sharedLimits }),
    logger,
    metrics,
    clock: systemClock,
  });
  parts.defer(() => gateway.close());
  const server = parts.adopt(
    await serveGateway(gateway, { database, logger, metrics, keys, host, cors }, [
      createGatewayRoutes({ chains, clock: systemClock, explainUnoffered, offersTraces }),
    ]),
    (one) => one.close(),
  );
  return {
    url: server.url,
    server,
    gateway,
    metrics,
    logLines,
    post: (body, { slug = 'eth', key = STAGE_KEY, headers = {}, signal } = {}) =>
      fetch(`${server.url}/${slug}/${key}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(signal !== undefined && { signal }),
      }),
    ...closeOf(parts),
  };
}

function stageChains({ logRangeMax = 10_000, startPool }: StageOptions): GatewayChain[] {
  const registry = createChainRegistry();
  return ['eth', 'base'].map((slug) => ({
    slug,
    chain: registry.get(slug),
    pool: idlePool(startPool ?? (() => Promise.resolve())),
    pinsHead: false,
    logRangeMax,
    integrity: 'none',
  }));
}

/** A pool that only starts: the stage's handler calls no upstream. */
function idlePool(start: () => Promise<void>): ForwardingPool {
  const refuse = (): never => {
    throw new TypeError('not part of this test');
  };
  return {
    chainId: createChainRegistry().get('eth').id,
    start,
    forward: refuse,
    broadcast: refuse,
    request: refuse,
    requestMany: refuse,
    getHead: refuse,
    getFinalized: refuse,
    waitForHead: refuse,
    getBlock: refuse,
    getHeaders: refuse,
    getReceipts: refuse,
    getWholeBlock: refuse,
    getLogs: refuse,
    estimateLogCalls: refuse,
    reportFault: refuse,
    checkChain: refuse,
    status: () => [],
    close: () => Promise.resolve(),
  };
}

/** The stage's handler calls no upstream, so there are no feeds. */
function noFeeds(): ChainFeeds {
  const refuse = (): never => {
    throw new TypeError('not part of this test');
  };
  const nothing = { watch: refuse, close: () => undefined };
  return {
    of: () => ({ blocks: { ...nothing, blocks: [], abandoned: () => null, catchUp: refuse }, pending: nothing }),
    close: () => undefined,
  };
}

function noFilters(): Filters {
  const refuse = (): never => {
    throw new TypeError('not part of this test');
  };
  return {
    newLogFilter: refuse,
    newBlockFilter: refuse,
    newPendingFilter: refuse,
    changes: refuse,
    logFilter: refuse,
    uninstall: refuse,
    close: () => undefined,
  };
}

function fixedKeys(accepted: readonly string[], scopes: KeyScopes): KeyStore {
  const refuse = (): never => {
    throw new TypeError('not part of this test');
  };
  return {
    verify: (key): Principal | null =>
      accepted.includes(key) ? { id: key.slice(0, 8), name: 'test', scopes } : null,
    inUse: () => accepted.length > 0,
    create: refuse,
    list: refuse,
    revoke: refuse,
    setScopes: refuse,
    setRateLimit: refuse,
  };
}

/** No server listens there: usage stays in memory. */
function unusedDatabase(): Database {
  return openDatabase({ url: 'postgres://127.0.0.1:1/none', applicationName: 'test', logger: silentLogger() });
}

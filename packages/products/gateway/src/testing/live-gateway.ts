import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, type Registry, silentLogger, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { ALL_SCOPES } from '@chainstead/http';
import { createKeyStore, createRawGate } from '@chainstead/http/server';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { onTestFinished } from 'vitest';
import { createGateway } from '../gateway.ts';
import type { GatewayLimits } from '../gateway-server.ts';
import { roomyLimits, serveGateway } from './serve-gateway.ts';

/** A whole gateway behind a real server, as in one API process. */
export interface LiveGateway {
  /** URL of the chain, with a key. */
  readonly url: string;
  readonly webSocketUrl: string;
  readonly metrics: Registry;
  /** Returns the result of one call over HTTP. @throws Error with the response's error */
  call(method: string, params?: readonly unknown[], key?: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface LiveGatewayOptions {
  readonly database: Database;
  readonly chainId: number;
  /** URLs of upstreams. */
  readonly urls: readonly string[];
  readonly limits?: Partial<GatewayLimits>;
  readonly logRangeMax?: number;
  /** Largest response of a filter poll, characters. */
  readonly filterCharacters?: number;
}

export const LIVE_KEY = 'live-gateway-key';
export const OTHER_KEY = 'another-live-key';

/** Starts a gateway that ends with the test. */
export async function startLiveGateway(options: LiveGatewayOptions): Promise<LiveGateway> {
  const { database, chainId, urls, logRangeMax = 10_000, filterCharacters } = options;
  const logger = silentLogger();
  const metrics = createMetricsRegistry();
  const key = `live-${chainId}`;
  const chain = createChainRegistry({
    additional: [
      { key, id: chainId, finalizedTag: false, reorgDepthMax: 32, pollIntervalMs: 20, blockTimeMs: 200 },
    ],
  }).get(key);
  const pool = createUpstreamPool({ chain, upstreams: urls.map((url) => ({ url })), logger, metrics });
  const keys = createKeyStore({
    database,
    configured: [LIVE_KEY, OTHER_KEY].map((key) => ({ key, scopes: ALL_SCOPES })),
  });
  const [host, cors] = ['127.0.0.1', { origins: '*' as const }];
  const gateway = createGateway({
    explainUnoffered: (slug) => `Chain ${slug} is not offered`,
    chains: [{ slug: 'live', chain, pool, pinsHead: urls.length > 1, logRangeMax, integrity: 'none' }],
    database,
    // A busy machine is slow. The tests check the reported content, not the timing.
    settings: { storeTimeoutMs: 30_000, ...(filterCharacters !== undefined && { filterCharacters }) },
    clientVersion: 'chainstead/test',
    keys,
    gate: createRawGate({ host, keys, cors, logger, metrics }),
    limits: roomyLimits({ sockets: { socketsMax: 100, socketsPerKey: 100 }, ...options.limits }),
    logger,
    metrics,
    clock: systemClock,
  });
  const server = await serveGateway(gateway, { database, logger, metrics, keys, host, cors });
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= server
      .close()
      .then(() => gateway.close())
      .then(() => pool.close());
    return closing;
  };
  onTestFinished(close);
  const url = `${server.url}/live/${LIVE_KEY}`;
  return {
    url,
    webSocketUrl: url.replace('http:', 'ws:'),
    metrics,
    async call(method, params = [], given = LIVE_KEY) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const response = await fetch(`${server.url}/live/${given}`, { method: 'POST', body });
      const answer = (await response.json()) as {
        result?: unknown;
        error?: { message: string };
        message?: string;
      };
      if (answer.error !== undefined) throw new Error(answer.error.message);
      if (response.status !== 200) throw new Error(answer.message);
      return answer.result;
    },
    close,
  };
}

import { createChainRegistry } from '@chainstead/chains';
import { createCursorCodec } from '@chainstead/core';
import type { RouteModule } from '@chainstead/http';
import { type ApiOptions, type ApiServer, createApi, createByteBudget, serveApi } from '@chainstead/http/server';
import type { GatewayLimits, GatewayServer } from '../gateway-server.ts';

/** Limits that no test reaches by accident. */
export function roomyLimits(given: Partial<GatewayLimits> = {}): GatewayLimits {
  return {
    bodyBytesMax: 100_000,
    bodies: createByteBudget(1_000_000),
    requestTimeoutMs: 20_000,
    weightPerSecond: null,
    callsPerSecond: new Map(),
    sockets: { socketsMax: 100, socketsPerKey: 50 },
    ...given,
  };
}

/** Serves a gateway with a real server and the rest of the API, as one API process does. */
export function serveGateway(
  gateway: Pick<GatewayServer, 'handler' | 'upgrades'>,
  dependencies: Pick<ApiOptions, 'database' | 'logger' | 'metrics' | 'keys' | 'host' | 'cors'>,
  openRoutes: readonly RouteModule[] = [],
): Promise<ApiServer> {
  const app = createApi({
    chains: createChainRegistry(),
    ...dependencies,
    cursors: createCursorCodec(Buffer.alloc(32, 7)),
    version: '0.0.0-test',
    readiness: async () => ({ ready: true, reasons: [] }),
    routes: [],
    openRoutes,
    limits: { bodyBytesMax: 1_000, pageLimitMax: 50, requestTimeoutMs: 30_000, rateLimit: null },
  });
  return serveApi(app, {
    host: dependencies.host,
    port: 0,
    closeDeadlineMs: 2_000,
    rawHandler: gateway.handler,
    upgrades: gateway.upgrades,
  });
}

import type { CursorCodec, Logger, Registry } from '@chainstead/core';
import type { Database, ReadDatabase } from '@chainstead/db';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { timeout } from 'hono/timeout';
import type { ApiApp, ApiEnv } from './api-context.ts';
import type { ApiDependencies, ApiLimits } from './api-dependencies.ts';
import { authentication } from './authentication.ts';
import { type BodyBudget, createBodyBudget } from './body-budget.ts';
import { compression } from './compression.ts';
import type { DocumentExamples } from './document-examples.ts';
import { addDocumentationRoutes } from './documentation-routes.ts';
import { errorAnswer, refuseInvalid } from './error-answer.ts';
import { type ChainLookup, createIndexedChains, type IndexedHere } from './indexed-chains.ts';
import { informationRoutes } from './information-routes.ts';
import type { KeyStore } from './key-store.ts';
import { createLocalLimits, type SharedLimits } from './limits/shared-limits.ts';
import { createPaging, type ShownState } from './paging.ts';
import { createParameters } from './parameters.ts';
import { protectRoutes, type RouteProtection } from './protected-routes.ts';
import type { Readiness } from './readiness.ts';
import { requestBody } from './request-body.ts';
import { type CorsOptions, createOpenCheck, requestGate } from './request-gate.ts';
import { requestObserver } from './request-observer.ts';
import { requestPath } from './request-path.ts';
import type { RouteModule } from './route-module.ts';
import type { RouteScopes } from './route-scopes.ts';
import { addSystemRoutes } from './system-routes.ts';
import { unmatched } from './unmatched.ts';
import type { ApiUsageCounter } from './usage/api-usage-counter.ts';

export interface ApiOptions {
  /** All known ones. */
  readonly chains: ChainLookup;
  /** What of them is indexed here. Default: all chains and datasets. */
  readonly indexed?: IndexedHere;
  readonly database: Database;
  /** For what only reads. Default: `database`. */
  readonly reads?: ReadDatabase;
  /** Of the {@link RequestDatabase} that gives `reads`, where standbys answer: pages after a cursor never go back behind it. */
  readonly shown?: ShownState | null;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly keys: KeyStore;
  /** `createCursorCodec(await loadServerSecret(database, 'cursor'))`. */
  readonly cursors: CursorCodec;
  readonly limits: ApiLimits;
  /** Where the requests of keys are counted, to be closed by its owner. Default: in this process alone. */
  readonly sharedLimits?: SharedLimits;
  /** Where is kept what keys asked for, to be closed by its owner. Default: nowhere. */
  readonly usage?: ApiUsageCounter;
  /** What bodies may take all together; shared with others that read bodies. Default: 16 of the largest. */
  readonly bodies?: BodyBudget;
  /** The address that will be listened on: decides whether a server without keys is open. */
  readonly host: string;
  readonly cors: CorsOptions;
  /** Whether `/metrics` is among the routes, or on another port. @default true */
  readonly servesMetrics?: boolean;
  /** Of the program, for the OpenAPI document. */
  readonly version: string;
  /** `/ready`: whether requests can be answered. */
  readonly readiness: () => Promise<Readiness>;
  /** `/synced`: whether all chains are caught up. Default: as `readiness`. */
  readonly synchronization?: () => Promise<Readiness>;
  /** Of the {@link RequestDatabase} that is given as the database, if it is one. */
  readonly requestScope?: MiddlewareHandler<ApiEnv>;
  /** What `/docs` fills in. Default: what schemas say. */
  readonly examples?: () => Promise<DocumentExamples>;
  /** Of the routes that need no key otherwise. Default: none. */
  readonly protection?: RouteProtection;
  /** Routes behind the key check. */
  readonly routes: readonly RouteModule[];
  /** Routes that check a key of their own (the gateway has it in its path), or none. */
  readonly openRoutes?: readonly RouteModule[];
}

const BODIES_AT_ONCE = 16;

/** The whole HTTP API: what every request passes, the system's own routes, and the given ones. Serve it with `serveApi`. */
export function createApi(options: ApiOptions): ApiApp {
  const { limits, logger, metrics, keys, servesMetrics = true } = options;
  const app: ApiApp = new OpenAPIHono<ApiEnv>({ defaultHook: refuseInvalid, getPath: requestPath });
  const routeScopes: RouteScopes = new Map();
  const dependencies: ApiDependencies = {
    chains: createIndexedChains(options.chains, options.indexed ?? null),
    database: options.database,
    reads: options.reads ?? options.database,
    logger,
    metrics,
    keys,
    routeScopes,
    limits,
    paging: createPaging(options.cursors, options.shown ?? null),
    parameters: createParameters({ chains: options.chains, pageLimitMax: limits.pageLimitMax }),
  };
  const isOpen = createOpenCheck(options.host, keys);
  app.onError(errorAnswer(logger));
  app.notFound(unmatched(app));
  app.use(requestObserver({ logger, metrics }));
  app.use(requestGate({ isOpen, cors: options.cors }));
  if (options.requestScope !== undefined) app.use(options.requestScope);
  app.use(timeout(limits.requestTimeoutMs, new HTTPException(503, { message: 'The request took too long' })));
  app.use(compression());
  registerSecuritySchemes(app);
  // Middleware guards only what is registered after it.
  if (options.protection !== undefined) {
    // Where there is no such route, 404 tells more than 401 or 403.
    const { metricsKey, opensMetrics, docs } = options.protection;
    const metricsGuard = servesMetrics ? { metricsKey, opensMetrics } : { metricsKey: null, opensMetrics: true };
    protectRoutes(app, { ...metricsGuard, docs }, { keys, isOpen });
  }
  addSystemRoutes(app, {
    logger,
    metrics: servesMetrics ? metrics : null,
    readiness: options.readiness,
    synchronization: options.synchronization ?? options.readiness,
  });
  addDocumentationRoutes(app, {
    version: options.version,
    logger,
    routeScopes,
    examples: options.examples ?? (async () => ({})),
  });
  for (const addRoutes of options.openRoutes ?? []) addRoutes(app, dependencies);
  const { sharedLimits = createLocalLimits() } = options;
  app.use(
    authentication({ keys, isOpen, routeScopes, rateLimit: limits.rateLimit, sharedLimits, usage: options.usage }),
  );
  app.use(
    requestBody(app, {
      bytesMax: limits.bodyBytesMax,
      budget: options.bodies ?? createBodyBudget(BODIES_AT_ONCE * limits.bodyBytesMax),
    }),
  );
  for (const addRoutes of [informationRoutes(options.version), ...options.routes]) addRoutes(app, dependencies);
  return app;
}

function registerSecuritySchemes(app: ApiApp): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'ApiKey', {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'Bearer', { type: 'http', scheme: 'bearer' });
}

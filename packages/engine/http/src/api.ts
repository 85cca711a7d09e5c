import type { CursorCodec, Logger, Registry } from '@chainstead/core';
import type { Database, ReadDatabase } from '@chainstead/db';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { timeout } from 'hono/timeout';
import { getPath } from 'hono/utils/url';
import { authentication } from './access/authentication.ts';
import { protectRoutes, type RouteProtection } from './access/raw-gate.ts';
import { type CorsOptions, createOpenCheck, requestGate } from './access/request-gate.ts';
import type { ApiApp, ApiEnv } from './api-context.ts';
import type { ApiDependencies, ApiLimits, RouteModule, RouteScopes } from './api-dependencies.ts';
import type { DocumentExamples } from './documentation/document-examples.ts';
import {
  addDocumentationRoutes,
  type DocumentAdditions,
  NO_ADDITIONS,
} from './documentation/documentation-routes.ts';
import { informationRoutes } from './documentation/information-routes.ts';
import { unmatched } from './errors/unmatched.ts';
import { addSystemRoutes, type Readiness } from './health/system-routes.ts';
import type { KeyStore } from './keys/key-store.ts';
import { createLocalLimits, type SharedLimits } from './limits/shared-limits.ts';
import { type ChainLookup, createIndexedChains, type IndexedHere } from './parameters/indexed-chains.ts';
import { createPaging, type ShownState } from './parameters/paging.ts';
import { createParameters } from './parameters/parameters.ts';
import { type ByteBudget, createByteBudget } from './requests/body-bounds.ts';
import { compression } from './requests/compression.ts';
import { errorAnswer, refuseInvalid } from './requests/error-answer.ts';
import { requestBody } from './requests/request-body.ts';
import { requestEnd } from './requests/request-end.ts';
import { requestObserver } from './requests/request-observer.ts';
import { boundedResponses, type ResponseBytes } from './requests/response-bytes.ts';
import type { ApiUsageCounter } from './usage/api-usage-counter.ts';

export interface ApiOptions {
  readonly chains: ChainLookup;
  readonly indexed?: IndexedHere;
  readonly database: Database;
  readonly reads?: ReadDatabase;
  /** If standbys serve `reads`: later pages never show an older state. */
  readonly shown?: ShownState | null;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly keys: KeyStore;
  /** `createCursorCodec(await loadServerSecret(database, 'cursor'))`. */
  readonly cursors: CursorCodec;
  readonly limits: ApiLimits;
  /** The owner closes them. @default counts in this process only */
  readonly sharedLimits?: SharedLimits;
  readonly usage?: ApiUsageCounter;
  /** @default 16 of the largest bodies */
  readonly bodies?: ByteBudget;
  readonly host: string;
  readonly cors: CorsOptions;
  /** False: on another port. @default true */
  readonly servesMetrics?: boolean;
  readonly version: string;
  readonly documentationUrl?: string | null;
  readonly readiness: () => Promise<Readiness>;
  /** `/synced`. @default as `readiness` */
  readonly synchronization?: () => Promise<Readiness>;
  /** From the {@link RequestDatabase} that is the database, if any. */
  readonly requestScope?: MiddlewareHandler<ApiEnv>;
  /** As `requestScope`. @default not limited */
  readonly responseBytes?: Pick<ResponseBytes, 'attempt'>;
  readonly examples?: () => Promise<DocumentExamples>;
  readonly additions?: DocumentAdditions;
  readonly protection?: RouteProtection;
  readonly routes: readonly RouteModule[];
  /** They check the key themselves (the gateway has it in its path). */
  readonly openRoutes?: readonly RouteModule[];
}

const BODIES_AT_ONCE = 16;
const NO_PROTECTION: RouteProtection = { metricsKey: null, opensMetrics: true, docs: false };

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
    responseBytes: options.responseBytes ?? { attempt: (work) => work() },
    paging: createPaging(options.cursors, options.shown ?? null),
    cursors: options.cursors,
    shown: options.shown ?? null,
    services: undefined,
    parameters: createParameters({ chains: options.chains, pageLimitMax: limits.pageLimitMax }),
  };
  const isOpen = createOpenCheck(options.host, keys);
  app.onError(errorAnswer(logger));
  app.notFound(unmatched(app));
  app.use(requestObserver({ logger, metrics }));
  app.use(requestGate(isOpen, options.cors));
  app.use(requestEnd());
  if (options.requestScope !== undefined) app.use(options.requestScope);
  app.use(timeout(limits.requestTimeoutMs, new HTTPException(503, { message: 'The request took too long' })));
  app.use(boundedResponses());
  app.use(compression());
  registerSecuritySchemes(app);
  // Middleware applies only to routes registered after it.
  const { protection = NO_PROTECTION } = options;
  // For an unknown route, a 404 is more informative than a 401 or 403.
  const access = { keys, isOpen, host: options.host };
  protectRoutes(app, servesMetrics ? protection : { ...NO_PROTECTION, docs: protection.docs }, access);
  const { readiness, synchronization = readiness } = options;
  addSystemRoutes(app, dependencies, {
    logger,
    metrics: servesMetrics ? metrics : null,
    readiness,
    synchronization,
  });
  addDocumentationRoutes(app, {
    version: options.version,
    documentationUrl: options.documentationUrl ?? null,
    logger,
    routeScopes,
    examples: options.examples ?? (async () => ({})),
    additions: options.additions ?? NO_ADDITIONS,
  });
  for (const addRoutes of options.openRoutes ?? []) addRoutes(app, dependencies);
  const { sharedLimits = createLocalLimits() } = options;
  const { rateLimit, nodeCallsPerSecond = null } = limits;
  const { usage, bodies = createByteBudget(BODIES_AT_ONCE * limits.bodyBytesMax) } = options;
  app.use(authentication({ keys, isOpen, routeScopes, rateLimit, nodeCallsPerSecond, sharedLimits, usage }));
  app.use(requestBody(app, { bytesMax: limits.bodyBytesMax, budget: bodies }));
  for (const addRoutes of [informationRoutes(options.version), ...options.routes]) addRoutes(app, dependencies);
  return app;
}

function registerSecuritySchemes(app: ApiApp): void {
  const header = { type: 'apiKey', in: 'header', name: 'X-API-Key' } as const;
  app.openAPIRegistry.registerComponent('securitySchemes', 'ApiKey', header);
  app.openAPIRegistry.registerComponent('securitySchemes', 'Bearer', { type: 'http', scheme: 'bearer' });
}

/** Pages with relative links: a redirect decides on their trailing slash. */
const KEEPS_LAST_SLASH = /^\/(?:docs\/$|console(?:\/|$))/;

/** Clients that join URLs produce double and trailing slashes. */
function requestPath(request: Request): string {
  const path = getPath(request);
  const single = path.includes('//') ? path.replaceAll(/\/{2,}/g, '/') : path;
  const isEnded = single.length > 1 && single.endsWith('/') && !KEEPS_LAST_SLASH.test(single);
  return isEnded ? single.slice(0, -1) : single;
}

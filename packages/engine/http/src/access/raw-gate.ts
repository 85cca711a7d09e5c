import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Logger, Registry } from '@chainstead/core';
import type { MiddlewareHandler } from 'hono';
import type { ApiApp, ApiEnv } from '../api-context.ts';
import { ApiError, defineApiError, UnauthorizedError } from '../errors/api-error.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { createRequestLog, type RequestLog } from '../requests/request-observer.ts';
import { type AuthenticationOptions, keyOf } from './authentication.ts';
import {
  type CorsOptions,
  createOpenCheck,
  EXPOSED_HEADERS,
  foreignToOpenServer,
  guardKeyless,
  readableBy,
  requestIdOf,
} from './request-gate.ts';

/** Runs before the router; false passes the request on. Handlers must use {@link RawGate}. */
export type RawHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

export interface RawGate {
  requestId(headers: IncomingHttpHeaders): string;
  isOpen(): boolean | Promise<boolean>;
  /** Null: an open server may respond. It refuses DNS rebinding and foreign pages. */
  refusal(headers: IncomingHttpHeaders): ApiError | null;
  corsHeaders(origin: string, isOpen: boolean): readonly string[];
  readonly log: RequestLog;
}

interface RawGateOptions {
  readonly host: string;
  readonly keys: KeyStore;
  readonly cors: CorsOptions;
  readonly logger: Logger;
  readonly metrics: Registry;
}

export function createRawGate(options: RawGateOptions): RawGate {
  const exposed = ['access-control-expose-headers', EXPOSED_HEADERS.join(',')];
  const nextId = createRequestIds();
  const anyOrigin = ['access-control-allow-origin', '*', ...exposed];
  return {
    requestId: (headers) => {
      const id = headers['x-request-id'];
      return typeof id === 'string' ? requestIdOf(id) : nextId();
    },
    isOpen: createOpenCheck(options.host, options.keys),
    refusal: (headers) => {
      const site = headers['sec-fetch-site'];
      const fetchSite = typeof site === 'string' ? site : undefined;
      return foreignToOpenServer({ host: headers.host ?? '', origin: headers.origin, fetchSite });
    },
    corsHeaders: (origin, isOpen) => {
      const readable = readableBy(origin, options.cors, isOpen);
      if (readable === '*') return anyOrigin;
      if (readable === null) return ['vary', 'Origin'];
      return ['access-control-allow-origin', readable, 'vary', 'Origin', ...exposed];
    },
    log: createRequestLog(options),
  };
}

const COUNTER_DIGITS = 12;

/** The last group of the UUID is a counter: a random one takes 2 % of a response from memory. */
function createRequestIds(): () => string {
  const prefix = randomUUID().slice(0, -COUNTER_DIGITS);
  let count = 0;
  return () => {
    count += 1;
    return prefix + count.toString(16).padStart(COUNTER_DIGITS, '0');
  };
}

export interface RouteProtection {
  readonly metricsKey: string | null;
  readonly opensMetrics: boolean;
  readonly docs: boolean;
}

const DOCS = ['/docs', '/docs/*', '/openapi.json'];
/** `/health` contains nothing, and proxies pass it on under their names. */
const KEYLESS = ['/ready', '/synced', '/supportedMethods', '/:chain/supportedMethods', '/chain/*', '/info'];

/** @param access `host`: the listen address */
export function protectRoutes(
  app: ApiApp,
  { metricsKey, opensMetrics, docs }: RouteProtection,
  access: Access & { readonly host: string },
): void {
  guardKeyless(app, access.host, [
    ...KEYLESS,
    ...(docs ? [] : DOCS),
    ...(metricsKey === null ? ['/metrics'] : []),
  ]);
  if (metricsKey !== null) app.use('/metrics', requireMetricsKey(metricsKey));
  else if (!opensMetrics)
    app.use('/metrics', () => {
      throw new MetricsClosedError();
    });
  if (!docs) return;
  for (const path of DOCS) app.use(path, requireKeyForDocs(access));
}

/** A 403: other machines reach this address, and nothing distinguishes the operator's scraper from them. */
class MetricsClosedError extends defineApiError('METRICS_CLOSED', () => ({
  status: 403,
  message:
    'Metrics are disabled because other machines can reach this address. Set METRICS_KEY to protect them with a key, or METRICS_PORT to serve them on a separate port',
})) {}

function requireMetricsKey(metricsKey: string): MiddlewareHandler<ApiEnv> {
  const expected = hash('sha256', metricsKey, 'buffer');
  return async (c, next) => {
    const key = keyOf(c);
    if (key === undefined || key === '') throw new UnauthorizedError('missing');
    // Digests have equal length: the comparison time reveals nothing about the key.
    if (!timingSafeEqual(hash('sha256', key, 'buffer'), expected)) throw new UnauthorizedError('invalid');
    return next();
  };
}

type Access = Pick<AuthenticationOptions, 'keys' | 'isOpen'>;
function requireKeyForDocs({ keys, isOpen }: Access): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    if (await isOpen()) return next();
    const [, encoded] = /^basic +(.+)$/i.exec(c.req.header('authorization') ?? '') ?? [];
    const text = encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
    const password = text?.slice(text.indexOf(':') + 1);
    const principal = await keys.verify(password ?? keyOf(c) ?? '');
    if (principal !== null) return next();
    throw new ApiError({
      code: 'KEY_MISSING',
      status: 401,
      message: 'The documentation requires an API key: enter it as the password, with any user name',
      // Browsers then prompt for the key and send it with all resources of the page.
      headers: { 'www-authenticate': 'Basic realm="chainstead"' },
    });
  };
}

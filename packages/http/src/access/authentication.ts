import type { MiddlewareHandler } from 'hono';
import type { ApiContext, ApiEnv } from '../api-context.ts';
import { ApiError, RateLimitedError, ScopeMissingError, UnauthorizedError } from '../errors/api-error.ts';
import { matchedRoute, routePatternOf } from '../errors/unmatched.ts';
import type { KeyScope } from '../keys/key-scope.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { Principal } from '../keys/principal.ts';
import { createNodeCallLimit } from '../limits/node-call-limit.ts';
import type { SharedLimit, SharedLimits } from '../limits/shared-limits.ts';
import type { ApiUsageCounter } from '../usage/api-usage-counter.ts';
import type { RateLimit } from './rate-limit.ts';
import type { RouteScopes } from './route-scopes.ts';

export interface AuthenticationOptions {
  readonly keys: KeyStore;
  readonly isOpen: () => boolean | Promise<boolean>;
  readonly routeScopes: RouteScopes;
  /** Null: unlimited. */
  readonly rateLimit: RateLimit | null;
  /** Node calls per second that the requests of a key may cause. Null: unlimited. */
  readonly nodeCallsPerSecond: number | null;
  /** Counts the requests. */
  readonly sharedLimits: SharedLimits;
  /** Counts requests by key and day. Default: not recorded. */
  readonly usage?: ApiUsageCounter | undefined;
}

/** Name of the limit's buckets. */
const LIMIT_NAME = 'api';
/** Window of rates set for single keys. Milliseconds. */
const OWN_WINDOW_MS = 1_000;
/** Id that requests without a key are counted under. */
const OPEN_ID = 'open';

/**
 * Accepts a request with a valid key, or without one on an open server. Counts it against the rate and checks the
 * scope.
 */
export function authentication(options: AuthenticationOptions): MiddlewareHandler<ApiEnv> {
  const { keys, isOpen, routeScopes, usage } = options;
  const limitOf = createKeyLimits(options);
  const runCounted = createNodeCallLimit(options.sharedLimits, options.nodeCallsPerSecond);

  /** Synchronous unless other processes must be informed first. @throws RateLimitedError */
  async function countRequest({ budgetOf }: SharedLimit, id: string): Promise<void> {
    const waited = options.sharedLimits.spend([{ budget: budgetOf(id), amount: 1 }]);
    const waitMs = typeof waited === 'number' ? waited : await waited;
    if (waitMs > 0) throw new RateLimitedError(Math.max(1, Math.ceil(waitMs / 1_000)));
  }

  return async (c, next) => {
    const open = isOpen();
    const isKeyless = typeof open === 'boolean' ? open : await open;
    const route = matchedRoute(c);
    // Without a route there is nothing to protect, and a 404 is more informative than a 401.
    if (route === undefined && !isKeyless) return next();
    const principal = isKeyless ? null : await authenticate(c, keys);
    const keyId = principal?.id ?? OPEN_ID;
    const report = (status: number): void => {
      if (route !== undefined) usage?.count({ keyId, method: c.req.method, route: routePatternOf(c), status });
    };
    try {
      c.set('principal', principal);
      const limit = limitOf(principal);
      if (limit !== null) await countRequest(limit, keyId);
      if (principal !== null && route !== undefined) requireScope(principal, routeScopes.get(route) ?? 'admin');
    } catch (error) {
      if (error instanceof ApiError) report(error.status);
      throw error;
    }
    await runCounted(keyId, next);
    report(c.res.status);
  };
}

/** Returns the limit of a key: its own, or else the common one. */
function createKeyLimits({
  rateLimit,
  sharedLimits,
}: AuthenticationOptions): (principal: Principal | null) => SharedLimit | null {
  const ofAll =
    rateLimit === null
      ? null
      : sharedLimits.add({ name: LIMIT_NAME, budget: rateLimit.requests, windowMs: rateLimit.windowSeconds * 1_000 });
  const own = new Map<number, SharedLimit>();
  return (principal) => {
    const rate = principal?.rateLimit ?? null;
    if (rate === null) return ofAll;
    const known = own.get(rate);
    if (known !== undefined) return known;
    const made = sharedLimits.add({ name: `${LIMIT_NAME} ${rate}`, budget: rate, windowMs: OWN_WINDOW_MS });
    own.set(rate, made);
    return made;
  };
}

/** Returns the key of a request: `X-API-Key`, else `Authorization: Bearer`. */
export function keyOf(c: ApiContext): string | undefined {
  const header = c.req.header('x-api-key');
  if (header !== undefined) return header;
  const bearer = c.req.header('authorization');
  return bearer !== undefined && /^bearer /i.test(bearer) ? bearer.slice('bearer '.length).trim() : bearer;
}

async function authenticate(c: ApiContext, keys: KeyStore): Promise<Principal> {
  const key = keyOf(c);
  if (key === undefined || key === '') throw new UnauthorizedError('missing');
  const found = keys.verify(key);
  const principal = found instanceof Promise ? await found : found;
  if (principal === null) throw new UnauthorizedError('invalid');
  return principal;
}

/** @throws ScopeMissingError */
function requireScope(principal: Principal, scope: KeyScope): void {
  if (!principal.scopes.has(scope)) throw new ScopeMissingError(scope, principal);
}

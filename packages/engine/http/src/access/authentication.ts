import type { MiddlewareHandler } from 'hono';
import type { ApiContext, ApiEnv } from '../api-context.ts';
import type { RateLimit, RouteScopes } from '../api-dependencies.ts';
import { ApiError, RateLimitedError, ScopeMissingError, UnauthorizedError } from '../errors/api-error.ts';
import { matchedRoute, routePatternOf } from '../errors/unmatched.ts';
import type { KeyStore, Principal } from '../keys/key-store.ts';
import { createNodeCallLimit } from '../limits/on-demand-budget.ts';
import type { SharedLimit, SharedLimits } from '../limits/shared-limits.ts';
import type { ApiUsageCounter } from '../usage/api-usage-counter.ts';

export interface AuthenticationOptions {
  readonly keys: KeyStore;
  readonly isOpen: () => boolean | Promise<boolean>;
  readonly routeScopes: RouteScopes;
  readonly rateLimit: RateLimit | null;
  /** Caused by requests of a key. Null: unlimited. */
  readonly nodeCallsPerSecond: number | null;
  readonly sharedLimits: SharedLimits;
  readonly usage?: ApiUsageCounter | undefined;
}

const LIMIT_NAME = 'api';
const OWN_WINDOW_MS = 1_000;
const OPEN_ID = 'open';

export function authentication(options: AuthenticationOptions): MiddlewareHandler<ApiEnv> {
  const { keys, isOpen, routeScopes, usage } = options;
  const limitOf = createKeyLimits(options);
  const pace = createPace();
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
    // Nothing to protect, and a 404 is more informative than a 401.
    if (route === undefined && !isKeyless) return next();
    const principal = isKeyless ? null : await authenticate(c, keys);
    const keyId = principal?.id ?? OPEN_ID;
    const report = (status: number): void => {
      if (route !== undefined) usage?.count({ keyId, method: c.req.method, route: routePatternOf(c), status });
    };
    try {
      c.set('principal', principal);
      await pace(keyId);
      const limit = limitOf(principal);
      if (limit !== null) await countRequest(limit, keyId);
      const scope = route === undefined ? undefined : (routeScopes.get(route) ?? 'admin');
      if (principal !== null && scope !== undefined && !principal.scopes.has(scope))
        throw new ScopeMissingError(scope, principal);
    } catch (error) {
      if (error instanceof ApiError) report(error.status);
      throw error;
    }
    await runCounted(keyId, next);
    report(c.res.status);
  };
}

/**
 * In each turn of the event loop, one request of each key begins. Every step of a response waits for a turn, so a key with many open requests
 * would otherwise slow those of all others by as many.
 */
function createPace(): (keyId: string) => Promise<void> | undefined {
  /** Keys with a request in this turn, and their next requests. */
  const waiting = new Map<string, (() => void)[]>();
  const beginNext = (): void => {
    for (const [keyId, queue] of waiting) {
      const begin = queue.shift();
      if (begin === undefined) waiting.delete(keyId);
      else begin();
    }
    if (waiting.size > 0) setImmediate(beginNext);
  };
  return (keyId) => {
    const queue = waiting.get(keyId);
    if (queue !== undefined) return new Promise((begin) => queue.push(begin));
    if (waiting.size === 0) setImmediate(beginNext);
    waiting.set(keyId, []);
    return undefined;
  };
}

function createKeyLimits({ rateLimit, sharedLimits }: AuthenticationOptions) {
  const common = rateLimit && { budget: rateLimit.requests, windowMs: rateLimit.windowSeconds * 1_000 };
  const ofAll = common && sharedLimits.add({ name: LIMIT_NAME, ...common });
  const own = new Map<number, SharedLimit>();
  return (principal: Principal | null): SharedLimit | null => {
    const rate = principal?.rateLimit ?? null;
    if (rate === null) return ofAll;
    const existing = own.get(rate);
    if (existing !== undefined) return existing;
    const added = sharedLimits.add({ name: `${LIMIT_NAME} ${rate}`, budget: rate, windowMs: OWN_WINDOW_MS });
    own.set(rate, added);
    return added;
  };
}

export function keyOf(c: ApiContext): string | undefined {
  const header = c.req.header('x-api-key');
  if (header !== undefined) return header;
  const bearer = c.req.header('authorization');
  return bearer !== undefined && /^bearer /i.test(bearer) ? bearer.slice('bearer '.length).trim() : bearer;
}

async function authenticate(c: ApiContext, keys: KeyStore): Promise<Principal> {
  const key = keyOf(c);
  if (key === undefined || key === '') throw new UnauthorizedError('missing');
  const verified = keys.verify(key);
  const principal = verified instanceof Promise ? await verified : verified;
  if (principal === null) throw new UnauthorizedError('invalid');
  return principal;
}

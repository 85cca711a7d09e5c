import type { MiddlewareHandler } from 'hono';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { ApiContext, ApiEnv } from './api-context.ts';
import { RateLimitedError, ScopeMissingError, UnauthorizedError } from './api-error.ts';
import type { KeyScope, RouteScopes } from './key-scope.ts';
import type { KeyStore, Principal } from './key-store.ts';
import type { RateLimit } from './rate-limit.ts';
import { matchedRoute } from './unmatched.ts';

export interface AuthenticationOptions {
  readonly keys: KeyStore;
  readonly isOpen: () => boolean | Promise<boolean>;
  readonly routeScopes: RouteScopes;
  /** Null: unlimited. */
  readonly rateLimit: RateLimit | null;
}

/**
 * Lets a request pass with an accepted key, or without one on an open server; then counts it against its key's rate, and looks
 * whether the key has the scope of the route.
 */
export function authentication(options: AuthenticationOptions): MiddlewareHandler<ApiEnv> {
  const { keys, isOpen, routeScopes, rateLimit } = options;
  const limiter =
    rateLimit === null
      ? null
      : new RateLimiterMemory({ points: rateLimit.requests, duration: rateLimit.windowSeconds });
  return async (c, next) => {
    const open = isOpen();
    if (!(typeof open === 'boolean' ? open : await open)) {
      const route = matchedRoute(c);
      // Without a route there is nothing to protect, and 404 tells more than 401.
      if (route === undefined) return next();
      const principal = await authenticate(c, keys);
      c.set('principal', principal);
      if (limiter !== null) await countRequest(limiter, principal.id);
      requireScope(principal, routeScopes.get(route) ?? 'admin');
    } else if (limiter !== null) await countRequest(limiter, 'open');
    return next();
  };
}

/** The key of a request: `X-API-Key`, else `Authorization: Bearer`. */
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

async function countRequest(limiter: RateLimiterMemory, id: string): Promise<void> {
  try {
    await limiter.consume(id);
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes)
      throw new RateLimitedError(Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000)));
    throw refusal;
  }
}

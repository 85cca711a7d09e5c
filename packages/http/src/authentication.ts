import type { MiddlewareHandler } from 'hono';
import type { ApiContext, ApiEnv } from './api-context.ts';
import { RateLimitedError, ScopeMissingError, UnauthorizedError } from './api-error.ts';
import type { KeyScope, RouteScopes } from './key-scope.ts';
import type { KeyStore, Principal } from './key-store.ts';
import type { SharedLimit, SharedLimits } from './limits/shared-limits.ts';
import type { RateLimit } from './rate-limit.ts';
import { matchedRoute } from './unmatched.ts';

export interface AuthenticationOptions {
  readonly keys: KeyStore;
  readonly isOpen: () => boolean | Promise<boolean>;
  readonly routeScopes: RouteScopes;
  /** Null: unlimited. */
  readonly rateLimit: RateLimit | null;
  /** Where requests are counted. */
  readonly sharedLimits: SharedLimits;
}

/** Of the limit's buckets. */
const LIMIT_NAME = 'api';

/**
 * Lets a request pass with an accepted key, or without one on an open server; then counts it against its key's rate, and looks
 * whether the key has the scope of the route.
 */
export function authentication(options: AuthenticationOptions): MiddlewareHandler<ApiEnv> {
  const { keys, isOpen, routeScopes, rateLimit, sharedLimits } = options;
  const limit =
    rateLimit === null
      ? null
      : sharedLimits.add({
          name: LIMIT_NAME,
          budget: rateLimit.requests,
          windowMs: rateLimit.windowSeconds * 1_000,
        });

  /** At once, unless other processes must hear first. @throws RateLimitedError */
  async function countRequest({ budgetOf }: SharedLimit, id: string): Promise<void> {
    const waited = sharedLimits.spend([{ budget: budgetOf(id), amount: 1 }]);
    const waitMs = typeof waited === 'number' ? waited : await waited;
    if (waitMs > 0) throw new RateLimitedError(Math.max(1, Math.ceil(waitMs / 1_000)));
  }

  return async (c, next) => {
    const open = isOpen();
    if (!(typeof open === 'boolean' ? open : await open)) {
      const route = matchedRoute(c);
      // Without a route there is nothing to protect, and 404 tells more than 401.
      if (route === undefined) return next();
      const principal = await authenticate(c, keys);
      c.set('principal', principal);
      if (limit !== null) await countRequest(limit, principal.id);
      requireScope(principal, routeScopes.get(route) ?? 'admin');
    } else if (limit !== null) await countRequest(limit, 'open');
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

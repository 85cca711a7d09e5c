import type { MiddlewareHandler } from 'hono';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { ApiContext, ApiEnv } from './api-context.ts';
import { RateLimitedError, UnauthorizedError } from './api-error.ts';
import type { KeyStore, Principal } from './key-store.ts';
import type { RateLimit } from './rate-limit.ts';
import { matchedRoute } from './unmatched.ts';

export interface AuthenticationOptions {
  readonly keys: KeyStore;
  readonly isOpen: () => boolean | Promise<boolean>;
  /** Null: unlimited. */
  readonly rateLimit: RateLimit | null;
}

/** Lets a request pass with an accepted key, or without one on an open server; then counts it against its key's rate. */
export function authentication(options: AuthenticationOptions): MiddlewareHandler<ApiEnv> {
  const { keys, isOpen, rateLimit } = options;
  const limiter =
    rateLimit === null
      ? null
      : new RateLimiterMemory({ points: rateLimit.requests, duration: rateLimit.windowSeconds });
  return async (c, next) => {
    const open = isOpen();
    if (!(typeof open === 'boolean' ? open : await open)) {
      // Without a route there is nothing to protect, and 404 tells more than 401.
      if (matchedRoute(c) === undefined) return next();
      c.set('principal', await authenticate(c, keys));
    }
    if (limiter !== null) await countRequest(limiter, c.get('principal')?.id ?? 'open');
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

async function countRequest(limiter: RateLimiterMemory, id: string): Promise<void> {
  try {
    await limiter.consume(id);
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes)
      throw new RateLimitedError(Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000)));
    throw refusal;
  }
}

import { hash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { ApiApp, ApiContext, ApiEnv } from './api-context.ts';
import { ApiError, UnauthorizedError } from './api-error.ts';
import { type AuthenticationOptions, keyOf } from './authentication.ts';

/** Which of the routes that need no key need one after all. */
export interface RouteProtection {
  /** What `/metrics` is read with; null: there is no such key. */
  readonly metricsKey: string | null;
  /** Whether `/metrics` may be read without a key while there is none for it. */
  readonly opensMetrics: boolean;
  /** Whether `/docs` and `/openapi.json` need an API key. */
  readonly docs: boolean;
}

/** Guards the routes that are registered after it. */
export function protectRoutes(
  app: ApiApp,
  { metricsKey, opensMetrics, docs }: RouteProtection,
  access: Pick<AuthenticationOptions, 'keys' | 'isOpen'>,
): void {
  if (metricsKey !== null) app.use('/metrics', requireMetricsKey(metricsKey));
  else if (!opensMetrics)
    app.use('/metrics', () => {
      throw new MetricsClosedError();
    });
  if (!docs) return;
  for (const path of ['/docs', '/docs/*', '/openapi.json']) app.use(path, requireKeyForDocs(access));
}

/** A 403: other machines reach this address, and nothing tells the operator's scraper from them. */
class MetricsClosedError extends ApiError {
  constructor() {
    super({
      code: 'METRICS_CLOSED',
      status: 403,
      message:
        'Metrics are closed, because other machines reach this address. Set METRICS_KEY to read them with a key, or METRICS_PORT to move them to a port of their own',
    });
  }
}

function requireMetricsKey(metricsKey: string): MiddlewareHandler<ApiEnv> {
  const expected = hash('sha256', metricsKey, 'buffer');
  return async (c, next) => {
    const key = keyOf(c);
    if (key === undefined || key === '') throw new UnauthorizedError('missing');
    // Digests have one length, and the time of comparing them tells nothing of a key.
    if (!timingSafeEqual(hash('sha256', key, 'buffer'), expected)) throw new UnauthorizedError('invalid');
    return next();
  };
}

function requireKeyForDocs({
  keys,
  isOpen,
}: Pick<AuthenticationOptions, 'keys' | 'isOpen'>): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    if (await isOpen()) return next();
    const principal = await keys.verify(passwordOf(c) ?? keyOf(c) ?? '');
    if (principal !== null) return next();
    throw new ApiError({
      code: 'KEY_MISSING',
      status: 401,
      message: 'The documentation needs an API key: give it as password, with any user name',
      // Browsers ask for it, and send it with all that the page loads.
      headers: { 'www-authenticate': 'Basic realm="chainstead"' },
    });
  };
}

/** Of basic authentication. */
function passwordOf(c: ApiContext): string | undefined {
  const [, encoded] = /^basic +(.+)$/i.exec(c.req.header('authorization') ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  return text.slice(text.indexOf(':') + 1);
}

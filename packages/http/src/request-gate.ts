import { randomUUID } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { ApiContext, ApiEnv } from './api-context.ts';
import { ApiError, ForeignOriginError } from './api-error.ts';
import { isLoopbackHostHeader, isLoopbackName } from './binding.ts';
import type { KeyStore } from './key-store.ts';

/** Which web pages may read responses of a server with keys. No credentials are involved: a key is sent in a header. */
export interface CorsOptions {
  /** `*`, or a list of origins. A server without keys doesn't use them: see {@link readableBy}. */
  readonly origins: '*' | readonly string[];
}

/** Headers of answers that pages may read. */
export const EXPOSED_HEADERS = [
  'X-Request-Id',
  'Retry-After',
  'ETag',
  'X-Indexed-From-Block',
  'X-Indexed-To-Block',
  'X-Indexed-Complete',
];

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The client's `x-request-id` where it is harmless to log and to send back, otherwise a new one. */
export function requestIdOf(given: string | undefined): string {
  return given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
}

/** Whether requests are served without a key: on a loopback address, while no key was ever configured. */
export function createOpenCheck(host: string, keys: KeyStore): () => boolean | Promise<boolean> {
  if (!isLoopbackName(host)) return () => false;
  return () => {
    const inUse = keys.inUse();
    return typeof inUse === 'boolean' ? !inUse : inUse.then((used) => !used);
  };
}

/**
 * Returns the `Access-Control-Allow-Origin` value for a page of this origin; null: the page may not read responses.
 * A server without keys is readable by pages of this machine only.
 */
export function readableBy(origin: string, { origins }: CorsOptions, isOpen: boolean): string | null {
  if (isOpen) return isLocalPage(origin) ? origin : null;
  if (origins === '*') return '*';
  return origins.includes(origin) ? origin : null;
}

/**
 * What every request passes first: its id, the headers of every answer, a well-formed URL; the guard of an open server
 * (against DNS rebinding and foreign pages); and CORS.
 */
export function requestGate(options: {
  readonly isOpen: () => boolean | Promise<boolean>;
  readonly cors: CorsOptions;
}): MiddlewareHandler<ApiEnv> {
  const pagesOf = (isOpen: boolean): MiddlewareHandler =>
    // Without `allowHeaders`, a preflight's own list comes back: clients send headers of their own, as the official SDK does.
    cors({
      origin: (origin) => readableBy(origin, options.cors, isOpen),
      exposeHeaders: EXPOSED_HEADERS,
      maxAge: 86_400,
    });
  const [openCors, keyedCors] = [pagesOf(true), pagesOf(false)];
  return async (c, next) => {
    setAnswerHeaders(c);
    const answered = options.isOpen();
    const isOpen = typeof answered === 'boolean' ? answered : await answered;
    const origin = c.req.header('origin');
    if (isOpen) guardOpenServer(c, origin);
    const goOn = (): Promise<void> => {
      refuseMalformedUrl(c.req.url);
      return next();
    };
    if (origin === undefined) return goOn();
    return (isOpen ? openCors : keyedCors)(c, goOn);
  };
}

function setAnswerHeaders(c: ApiContext): void {
  const id = requestIdOf(c.req.header('x-request-id'));
  c.set('requestId', id);
  c.set('principal', null);
  c.header('x-request-id', id);
  c.header('x-content-type-options', 'nosniff');
  // Answers depend on a key that caches don't look at, and move with the head of a chain.
  c.header('cache-control', 'no-store');
  c.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
}

/** The router leaves what it can't decode as it is; a half-decoded address or cursor must not reach a route. */
function refuseMalformedUrl(url: string): void {
  if (!url.includes('%')) return;
  let decoded: string;
  try {
    decoded = decodeURIComponent(url);
  } catch {
    throw new ApiError({ code: 'MALFORMED_URL', status: 400, message: 'URL has a malformed percent-encoding' });
  }
  // Postgres refuses NUL in text.
  if (decoded.includes('\0'))
    throw new ApiError({ code: 'MALFORMED_URL', status: 400, message: 'URL must not contain a NUL character (%00)' });
}

/** What a link may lead to from any page: the same for everybody, and without effect; the console checks for itself where a request comes from. */
const LINKED_PATH = /^\/($|health$|docs($|\/)|console($|\/))/;

function guardOpenServer(c: ApiContext, origin: string | undefined): void {
  const refusal = foreignToOpenServer({
    host: c.req.header('host') ?? new URL(c.req.url).host,
    origin,
    fetchSite: LINKED_PATH.test(c.req.path) ? undefined : c.req.header('sec-fetch-site'),
  });
  if (refusal !== null) throw refusal;
}

/** What tells who caused a request. */
export interface RequestOrigin {
  /** `Host`: foreign after DNS rebinding. */
  readonly host: string;
  /** `Origin`: browsers send it with scripts' requests and with other methods than GET. */
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`: browsers send it with the others too, an image's for instance. */
  readonly fetchSite: string | undefined;
}

/** Why a server without keys must not answer a request; null: it comes from this machine. */
export function foreignToOpenServer({ host, origin, fetchSite }: RequestOrigin): ForeignOriginError | null {
  if (!isLoopbackHostHeader(host)) return new ForeignOriginError('Host', host);
  // The page at localhost:3000 is another site than 127.0.0.1, so its Origin is what counts.
  if (origin === undefined)
    return fetchSite === 'cross-site' ? new ForeignOriginError('Sec-Fetch-Site', fetchSite) : null;
  return isLocalPage(origin) ? null : new ForeignOriginError('Origin', origin);
}

/** Whether a web page of this machine, such as `http://localhost:5173`, has this origin. */
function isLocalPage(origin: string): boolean {
  const page = URL.parse(origin);
  return page !== null && /^https?:$/.test(page.protocol) && isLoopbackName(page.hostname);
}

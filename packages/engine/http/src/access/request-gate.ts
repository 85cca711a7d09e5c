import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { defineError } from '@chainstead/core';
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { ApiApp, ApiContext, ApiEnv } from '../api-context.ts';
import { ApiError, ForeignOriginError } from '../errors/api-error.ts';
import type { KeyStore } from '../keys/key-store.ts';

/** Web pages that may read the responses of a server with keys. Keys are sent in a header: no credentials. */
export interface CorsOptions {
  readonly origins: '*' | readonly string[];
}

export const EXPOSED_HEADERS = [
  'X-Request-Id',
  'Retry-After',
  'ETag',
  'X-Indexed-From-Block',
  'X-Indexed-To-Block',
  'X-Indexed-Complete',
  'X-Indexed-Unread',
];

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Returns the client's `x-request-id` if it is safe to log and return, otherwise a new one. */
export function requestIdOf(id: string | undefined): string {
  return id !== undefined && REQUEST_ID.test(id) ? id : randomUUID();
}

/** Returns whether requests are served without a key: on a loopback address, as long as no key was ever configured. */
export function createOpenCheck(host: string, keys: KeyStore): () => boolean | Promise<boolean> {
  if (!isLoopbackName(host)) return () => false;
  return () => {
    const inUse = keys.inUse();
    return typeof inUse === 'boolean' ? !inUse : inUse.then((used) => !used);
  };
}

/** The `Access-Control-Allow-Origin` value. Only pages of this machine may read a server without keys. */
export function readableBy(origin: string, { origins }: CorsOptions, isOpen: boolean): string | null {
  if (isOpen) return isLocalPage(origin) ? origin : null;
  if (origins === '*') return '*';
  return origins.includes(origin) ? origin : null;
}

/** For every request: id, headers, URL check, CORS, protection of an open server (DNS rebinding, foreign pages). */
export function requestGate(
  openCheck: () => boolean | Promise<boolean>,
  options: CorsOptions,
): MiddlewareHandler<ApiEnv> {
  const pagesOf = (isOpen: boolean): MiddlewareHandler =>
    // Without `allowHeaders`, the preflight's own list is returned: clients send custom headers, like the official SDK.
    cors({
      origin: (origin) => readableBy(origin, options, isOpen),
      exposeHeaders: EXPOSED_HEADERS,
      maxAge: 86_400,
    });
  const [openCors, keyedCors] = [pagesOf(true), pagesOf(false)];
  return async (c, next) => {
    setAnswerHeaders(c);
    const open = openCheck();
    const isOpen = typeof open === 'boolean' ? open : await open;
    const origin = c.req.header('origin');
    if (isOpen) guardOpenServer(c, origin);
    const proceed = (): Promise<void> => {
      refuseMalformedUrl(c.req.url);
      return next();
    };
    if (origin === undefined) return proceed();
    return (isOpen ? openCors : keyedCors)(c, proceed);
  };
}

function setAnswerHeaders(c: ApiContext): void {
  const id = requestIdOf(c.req.header('x-request-id'));
  c.set('requestId', id);
  c.set('principal', null);
  c.header('x-request-id', id);
  c.header('x-content-type-options', 'nosniff');
  // Responses depend on a key that caches ignore, and change with the head of a chain.
  c.header('cache-control', 'no-store');
  c.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
}

/** The router passes undecodable text through unchanged; a half-decoded address or cursor must not reach a route. */
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

/** Paths that any page may link to: the same for all users, without side effects. The console checks origins itself. */
const LINKED_PATH = /^\/($|health$|docs($|\/)|console($|\/))/;

/** Protects routes registered after it that need no key: they are for this machine only, on a loopback address. */
export function guardKeyless(app: ApiApp, host: string, paths: readonly string[]): void {
  if (!isLoopbackName(host)) return;
  for (const path of paths)
    app.use(path, (c, next) => {
      guardOpenServer(c, c.req.header('origin'));
      return next();
    });
}

function guardOpenServer(c: ApiContext, origin: string | undefined): void {
  const refusal = foreignToOpenServer({
    host: c.req.header('host') ?? new URL(c.req.url).host,
    origin,
    fetchSite: LINKED_PATH.test(c.req.path) ? undefined : c.req.header('sec-fetch-site'),
  });
  if (refusal !== null) throw refusal;
}

interface RequestOrigin {
  /** `Host`: a foreign name after DNS rebinding. */
  readonly host: string;
  /** `Origin`: browsers send it with script requests and with methods other than GET. */
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`: browsers also send it with other requests, for instance for images. */
  readonly fetchSite: string | undefined;
}

/** Returns why a server without keys must refuse a request; null: it comes from this machine. */
export function foreignToOpenServer({ host, origin, fetchSite }: RequestOrigin): ForeignOriginError | null {
  if (!isLoopbackHostHeader(host)) return new ForeignOriginError('Host', host);
  // A page at localhost:3000 is cross-site to 127.0.0.1, so its Origin decides.
  if (origin === undefined)
    return fetchSite === 'cross-site' ? new ForeignOriginError('Sec-Fetch-Site', fetchSite) : null;
  return isLocalPage(origin) ? null : new ForeignOriginError('Origin', origin);
}

/** Whether the origin is a web page of this machine, such as `http://localhost:5173`. */
function isLocalPage(origin: string): boolean {
  const page = URL.parse(origin);
  return page !== null && /^https?:$/.test(page.protocol) && isLoopbackName(page.hostname);
}

export class UnsafeBindingError extends defineError('UNSAFE_BINDING', (host: string) => ({
  message: `HOST=${host} is reachable from other machines, but no API key exists`,
  facts: { host },
  remedy: 'Run `chainstead keys create`, set API_KEYS, or set HOST=127.0.0.1',
})) {}

/** Always this machine: `localhost`, `*.localhost` (RFC 6761), 127.0.0.0/8, `::1`. */
export function isLoopbackName(name: string): boolean {
  const bare = name
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  if (isIP(bare) === 4) return bare.startsWith('127.');
  if (isIP(bare) === 6) return bare === '::1';
  return bare === 'localhost' || bare.endsWith('.localhost');
}

function isLoopbackHostHeader(header: string): boolean {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/.exec(header.trim());
  return match?.[1] !== undefined && isLoopbackName(match[1]);
}

/** Refuses to listen on an address that other machines can read without a key. @throws UnsafeBindingError */
export async function assertSafeBinding(options: { readonly host: string; readonly keys: KeyStore }): Promise<void> {
  if (isLoopbackName(options.host)) return;
  if (!(await options.keys.inUse())) throw new UnsafeBindingError(options.host);
}

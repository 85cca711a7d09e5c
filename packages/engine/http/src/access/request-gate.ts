import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { defineError } from '@chainstead/core';
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { ApiApp, ApiContext, ApiEnv } from '../api-context.ts';
import { ApiError, ForeignOriginError } from '../errors/api-error.ts';
import type { KeyStore } from '../keys/key-store.ts';

/** Pages that may read a server with keys. These are sent in a header: no credentials. */
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

export function requestIdOf(id: string | undefined): string {
  return id !== undefined && REQUEST_ID.test(id) ? id : randomUUID();
}

/** Without a key: on a loopback address, as long as no key was ever configured. */
export function createOpenCheck(host: string, keys: KeyStore): () => boolean | Promise<boolean> {
  if (!isLoopbackName(host)) return () => false;
  return () => {
    const inUse = keys.inUse();
    return typeof inUse === 'boolean' ? !inUse : inUse.then((used) => !used);
  };
}

/** `Access-Control-Allow-Origin`. Only pages of this machine may read a server without keys. */
export function readableBy(origin: string, { origins }: CorsOptions, isOpen: boolean): string | null {
  if (isOpen) return isLocalPage(origin) ? origin : null;
  if (origins === '*') return '*';
  return origins.includes(origin) ? origin : null;
}

/** Id, headers, URL check, CORS, protection of an open server (DNS rebinding, foreign pages). */
export function requestGate(
  openCheck: () => boolean | Promise<boolean>,
  options: CorsOptions,
): MiddlewareHandler<ApiEnv> {
  const pagesOf = (isOpen: boolean): MiddlewareHandler =>
    // Without `allowHeaders`, the preflight's list is returned: clients send custom headers.
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

/** The router passes undecodable text on; no half-decoded address may reach a route. */
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
    throw new ApiError({
      code: 'MALFORMED_URL',
      status: 400,
      message: 'URL must not contain a NUL character (%00)',
    });
}

/** Any page may link to them: no side effects. The console checks origins itself. */
const LINKED_PATH = /^\/($|health$|docs($|\/)|console($|\/))/;

/** For later routes without a key: on a loopback address, only this machine may use them. */
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
  readonly host: string;
  /** Browsers send it with script requests and with methods other than GET. */
  readonly origin: string | undefined;
  /** Browsers also send it with other requests, for instance for images. */
  readonly fetchSite: string | undefined;
}

/** Null: the request comes from this machine. */
export function foreignToOpenServer({ host, origin, fetchSite }: RequestOrigin): ForeignOriginError | null {
  if (!isLoopbackHostHeader(host)) return new ForeignOriginError('Host', host);
  // A page at localhost:3000 is cross-site to 127.0.0.1, so its Origin decides.
  if (origin === undefined)
    return fetchSite === 'cross-site' ? new ForeignOriginError('Sec-Fetch-Site', fetchSite) : null;
  return isLocalPage(origin) ? null : new ForeignOriginError('Origin', origin);
}

function isLocalPage(origin: string): boolean {
  const page = URL.parse(origin);
  return page !== null && /^https?:$/.test(page.protocol) && isLoopbackName(page.hostname);
}

export class UnsafeBindingError extends defineError('UNSAFE_BINDING', (host: string) => ({
  message: `HOST=${host} is reachable from other machines, but no API key exists`,
  facts: { host },
  remedy: 'Run `chainstead keys create`, set API_KEYS, or set HOST=127.0.0.1',
})) {}

/** `localhost`, `*.localhost` (RFC 6761), 127.0.0.0/8, `::1`. */
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

/** @throws UnsafeBindingError if other machines could read without a key */
export async function assertSafeBinding(options: {
  readonly host: string;
  readonly keys: KeyStore;
}): Promise<void> {
  if (isLoopbackName(options.host)) return;
  if (!(await options.keys.inUse())) throw new UnsafeBindingError(options.host);
}

import { InvalidUrlError } from './egress-error.ts';

export interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

export interface HopRequest {
  /** http or https. User and password become basic authentication. */
  readonly url: string | URL;
  readonly method?: Hop['method'];
  /** `host` is ignored. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Not for other origins. */
const PRIVATE_HEADERS = ['authorization', 'cookie', 'proxy-authorization'];
const BODY_HEADERS = ['content-type', 'content-length', 'content-encoding', 'content-language'];

/** @throws InvalidUrlError */
export function openingHop(request: HopRequest): Hop {
  const url = parseUrl(request.url);
  const headers: Record<string, string> = {};
  for (const name in request.headers) {
    const lower = name.toLowerCase();
    const value = request.headers[name];
    if (value !== undefined && lower !== 'host') headers[lower] = value;
  }
  if (url.username !== '' || url.password !== '') {
    headers.authorization ??= basicAuthorization(url);
    url.username = '';
    url.password = '';
  }
  return { url, method: request.method ?? 'GET', headers, body: request.body };
}

export function isRedirect(status: number, location: string | string[] | undefined): location is string {
  return REDIRECTS.has(status) && typeof location === 'string';
}

/** Follows like browsers (Fetch); null: no redirect. @throws InvalidUrlError */
export function nextHop(hop: Hop, status: number, location: string | string[] | undefined): Hop | null {
  if (!isRedirect(status, location)) return null;
  const url = parseUrl(URL.parse(location, hop.url) ?? location);
  url.username = '';
  url.password = '';
  const headers = { ...hop.headers };
  if (url.origin !== hop.url.origin) for (const name of PRIVATE_HEADERS) delete headers[name];
  const keepsMethod = status === 307 || status === 308 || hop.method === 'GET' || hop.method === 'HEAD';
  if (keepsMethod || (status !== 303 && hop.method !== 'POST'))
    return { url, method: hop.method, headers, body: hop.body };
  for (const name of BODY_HEADERS) delete headers[name];
  return { url, method: 'GET', headers, body: undefined };
}

function parseUrl(given: string | URL): URL {
  const url = URL.parse(given);
  if (url === null) throw new InvalidUrlError('it is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new InvalidUrlError(`protocol ${url.protocol} is neither http: nor https:`);
  return url;
}

function basicAuthorization(url: URL): string {
  try {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    return `Basic ${Buffer.from(credentials).toString('base64')}`;
  } catch {
    throw new InvalidUrlError('its user or password has a malformed percent-encoding');
  }
}

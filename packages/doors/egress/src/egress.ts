import { errorText, type Logger, whenAborted } from '@chainstead/core';
import { Agent } from 'undici';
import { createAddressCheck } from './address-policy.ts';
import { createCheckedConnector, type Resolver, systemResolver } from './checked-connector.ts';
import { ConnectionFailedError, EgressError, EgressTimeoutError, TooManyRedirectsError } from './egress-error.ts';
import { type EgressExchange, startExchange } from './exchange.ts';
import { type HopRequest, isRedirect, nextHop, openingHop } from './hop.ts';

export interface EgressOptions {
  /** CIDR ranges and addresses (`WEBHOOK_ALLOW_PRIVATE`); `true`: all. */
  readonly allowPrivate: readonly string[] | boolean;
  /** `http://host:port`, private until its first public address. Redirects don't inherit it. */
  readonly privateOrigin?: string;
  /** For resolving, redirects and body together. @default 10,000 */
  readonly timeoutMs?: number;
  /** @default 1 MiB */
  readonly maxResponseBytes?: number;
  /** @default 16 */
  readonly connectionsPerOrigin?: number;
  /** @default the machine's */
  readonly resolve?: Resolver;
  readonly logger?: Logger;
}

export interface EgressRequest extends HopRequest {
  /** Redirects to follow, each checked. @default 0: the redirect is the answer */
  readonly redirects?: number;
  readonly timeoutMs?: number;
  readonly maxResponseBytes?: number;
  /** @default `refuse` */
  readonly oversize?: 'refuse' | 'truncate';
  readonly signal?: AbortSignal;
}

export interface EgressResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Decompressed. */
  readonly body: Buffer;
  readonly truncated: boolean;
  readonly url: string;
}

export interface Egress {
  /** @throws EgressError, or the signal's reason */
  request(request: EgressRequest): Promise<EgressResponse>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const RESPONSE_BYTES_MAX = 1_048_576;
const CONNECTIONS_PER_ORIGIN = 16;
const KEEP_ALIVE_MS = 15_000;

/** @throws InvalidAllowListError */
export function createEgress(options: EgressOptions): Egress {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const agent = new Agent({
    connections: options.connectionsPerOrigin ?? CONNECTIONS_PER_ORIGIN,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The request's deadline is the one clock.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: createCheckedConnector({
      check: createAddressCheck(options.allowPrivate),
      resolve: options.resolve ?? systemResolver,
      connectTimeoutMs: timeoutMs,
      privateOrigin: options.privateOrigin,
    }),
  });
  if (options.allowPrivate === true || (options.allowPrivate !== false && options.allowPrivate.length > 0))
    options.logger?.warn(
      { allow_private: options.allowPrivate },
      'Outgoing requests may reach private addresses',
    );
  return {
    request: (request) =>
      performRequest(agent, request, request.timeoutMs ?? timeoutMs, options.maxResponseBytes),
    // Running requests end too.
    close: () => agent.destroy(),
  };
}

async function performRequest(
  agent: Agent,
  request: EgressRequest,
  timeoutMs: number,
  standardMaxBytes = RESPONSE_BYTES_MAX,
): Promise<EgressResponse> {
  const { signal, redirects = 0 } = request;
  const limit = {
    maxBytes: request.maxResponseBytes ?? standardMaxBytes,
    oversize: request.oversize ?? 'refuse',
  };
  let hop = openingHop(request);
  let exchange: EgressExchange | undefined;
  const deadline = { isOver: false };
  const timer = setTimeout(() => {
    deadline.isOver = true;
    exchange?.cancel(new EgressTimeoutError(hop.url.host, timeoutMs));
  }, timeoutMs);
  const forgetSignal = whenAborted(signal, () => exchange?.cancel(signal?.reason));
  try {
    for (let followed = 0; ; followed++) {
      signal?.throwIfAborted();
      // Invariant: EGRESS-BOUNDED
      if (deadline.isOver) throw new EgressTimeoutError(hop.url.host, timeoutMs);
      exchange = startExchange(agent, {
        hop,
        limits: { host: hop.url.host, ...limit },
        wantsBody: (status, headers) => redirects === 0 || !isRedirect(status, headers.location),
      });
      const { status, headers, bytes, truncated } = await exchange.answer;
      const next = redirects === 0 ? null : nextHop(hop, status, headers.location);
      if (next === null) return { status, headers, body: bytes, truncated, url: hop.url.href };
      if (followed >= redirects) throw new TooManyRedirectsError(hop.url.host, redirects);
      hop = next;
    }
  } catch (error) {
    if (error instanceof EgressError) throw error;
    signal?.throwIfAborted();
    // The error's text may hold addresses of this network; its code says more.
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    throw new ConnectionFailedError(hop.url.host, typeof code === 'string' ? code : errorText(error), error);
  } finally {
    clearTimeout(timer);
    forgetSignal();
  }
}

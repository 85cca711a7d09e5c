import { errorText, type Logger } from '@chainstead/core';
import { BodyTooLargeError, KEY_PATTERN, type KeyStore, type RawGate, type RawHandler } from '@chainstead/http';
import type { ServedChain } from './answer-request.ts';
import { ClientGoneError, Exchange } from './exchange.ts';
import { readBody } from './read-body.ts';
import type { ServeBody } from './serve-body.ts';

export interface GatewayHandlerOptions {
  /** By path segment. */
  readonly chains: ReadonlyMap<string, ServedChain>;
  readonly gate: RawGate;
  readonly keys: KeyStore;
  readonly serveBody: ServeBody;
  /** Largest body. Bytes. */
  readonly bodyBytesMax: number;
  readonly logger: Logger;
}

/** A path below a chain's name that the router serves. */
const ROUTED = new Set(['supportedMethods']);

/**
 * Takes every request below a configured chain's path segment but those that the router knows (`/eth/supportedMethods`, and
 * what browsers ask before a request), so that a key in a path reaches nothing that would log or repeat it.
 */
export function createGatewayHandler(options: GatewayHandlerOptions): RawHandler {
  const { chains, gate, logger } = options;

  function fail(exchange: Exchange, error: unknown): void {
    if (error instanceof ClientGoneError) return;
    logger.error({ request_id: exchange.requestId, error: errorText(error) }, 'Request to the gateway failed');
    if (exchange.outgoing.headersSent) exchange.outgoing.destroy();
    else exchange.sendMessage(500, 'Internal error');
  }

  /** Who may pass, reads and is answered. Promises only where something must be awaited. */
  function take(exchange: Exchange, served: ServedChain, key: string): void {
    const allowed = authorize(exchange, key, options);
    if (allowed instanceof Promise) {
      allowed.then(
        (passes) => passes && receive(exchange, served),
        (error: unknown) => fail(exchange, error),
      );
    } else if (allowed) receive(exchange, served);
  }

  function receive(exchange: Exchange, served: ServedChain): void {
    readBody(exchange.incoming, options.bodyBytesMax, {
      onTooLarge() {
        const { status, message, headers } = new BodyTooLargeError(options.bodyBytesMax);
        exchange.sendMessage(status, message, Object.entries(headers).flat());
      },
      onBody(body) {
        try {
          options.serveBody(body, exchange, served)?.catch((error: unknown) => fail(exchange, error));
        } catch (error) {
          fail(exchange, error);
        }
      },
    });
  }

  return (incoming, outgoing) => {
    const path = splitPath(incoming.url ?? '/');
    const served = chains.get(path.slug);
    if (served === undefined || incoming.method === 'OPTIONS') return false;
    if (ROUTED.has(path.rest)) return false;
    const exchange = new Exchange(incoming, outgoing, gate);
    if (incoming.method === 'POST') take(exchange, served, path.rest);
    else refuseMethod(exchange, path.slug);
    return true;
  };
}

function splitPath(url: string): { readonly slug: string; readonly rest: string } {
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  const slash = path.indexOf('/', 1);
  if (slash === -1) return { slug: path.slice(1), rest: '' };
  const end = path.endsWith('/') ? path.length - 1 : path.length;
  return { slug: path.slice(1, slash), rest: path.slice(slash + 1, end) };
}

function refuseMethod(exchange: Exchange, slug: string): void {
  const message = `Method ${exchange.incoming.method} is not allowed on /${slug}/{apiKey}: use POST`;
  exchange.sendMessage(405, message, ['allow', 'POST']);
}

/** Whether the request may be read; where not, it has been answered. */
function authorize(exchange: Exchange, key: string, options: GatewayHandlerOptions): boolean | Promise<boolean> {
  const isOpen = options.gate.isOpen();
  if (isOpen instanceof Promise) return isOpen.then((open) => authorizeKnowing(open, exchange, key, options));
  return authorizeKnowing(isOpen, exchange, key, options);
}

function authorizeKnowing(
  isOpen: boolean,
  exchange: Exchange,
  key: string,
  { gate, keys }: GatewayHandlerOptions,
): boolean | Promise<boolean> {
  const { headers } = exchange.incoming;
  if (isOpen) {
    const refusal = gate.refusal(headers);
    if (refusal !== null) exchange.sendMessage(refusal.status, refusal.message);
    return refusal === null;
  }
  if (headers.origin !== undefined) exchange.cors = gate.corsHeaders(headers.origin);
  if (!KEY_PATTERN.test(key)) {
    exchange.sendMessage(401, 'Token is invalid format');
    return false;
  }
  const admit = (principal: { readonly id: string } | null): boolean => {
    if (principal === null) exchange.sendMessage(401, 'Node Key not valid');
    else exchange.keyId = principal.id;
    return principal !== null;
  };
  const principal = keys.verify(key);
  return principal instanceof Promise ? principal.then(admit) : admit(principal);
}

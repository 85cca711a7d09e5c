import { errorText, type Logger } from '@chainstead/core';
import { type ApiError, answerTo, BodyTooLargeError, TooManyBodiesError } from '@chainstead/http';
import type { ByteBudget, KeyStore, RawGate, RawHandler } from '@chainstead/http/server';
import { chainNotOffered, errorText as errorAnswer, invalidRequest } from '../protocol/rpc-errors.ts';
import { RESERVED_SEGMENTS } from '../reserved-segments.ts';
import { type Admission, authorize, ClientGoneError, Exchange } from './exchange.ts';
import type { ServedChain } from './open-scope.ts';
import { readBody, refuseBody } from './read-body.ts';
import type { ServeBody } from './serve-body.ts';
import { splitPath } from './split-path.ts';

export interface GatewayHandlerOptions {
  readonly chains: ReadonlyMap<string, ServedChain>;
  readonly explainUnoffered: (slug: string) => string;
  readonly gate: RawGate;
  readonly keys: KeyStore;
  readonly serveBody: ServeBody;
  readonly bodyBytesMax: number;
  readonly bodies: ByteBudget;
  readonly logger: Logger;
}

const ROUTED = new Set(['supportedMethods']);

type Target = ServedChain | string;

/** Keys in paths reach nothing that logs them. Calls to unoffered chains get a remedy. */
export function createGatewayHandler(options: GatewayHandlerOptions): RawHandler {
  const { chains, gate, logger } = options;

  function fail(exchange: Exchange, error: unknown): void {
    if (error instanceof ClientGoneError) return;
    showToPage(exchange, gate);
    const { status, message, headers } = answerTo(error);
    if (status === 500)
      logger.error({ request_id: exchange.requestId, error: errorText(error) }, 'Request to the gateway failed');
    if (exchange.outgoing.headersSent) exchange.outgoing.destroy();
    else exchange.sendMessage(status, message, Object.entries(headers).flat());
  }

  /** If admitted. A promise only if something must be awaited. */
  function take(exchange: Exchange, key: string, goOn: () => void): void {
    const admission = authorize(exchange.incoming.headers, key, options);
    if (admission instanceof Promise) {
      admission.then(
        (known) => admit(exchange, known, goOn),
        (error: unknown) => fail(exchange, error),
      );
    } else admit(exchange, admission, goOn);
  }

  function admit(exchange: Exchange, { keyId, cors, refusal }: Admission, goOn: () => void): void {
    exchange.keyId = keyId;
    exchange.cors = cors;
    if (refusal === null) goOn();
    // The id is in the body, which is not read.
    else if (refusal.error !== undefined) exchange.sendText(refusal.status, errorAnswer('null', refusal.error));
    else exchange.sendMessage(refusal.status, refusal.message);
  }

  function receive(exchange: Exchange, target: Target): void {
    const { bodyBytesMax, bodies } = options;
    readBody(
      exchange.incoming,
      { bytesMax: bodyBytesMax, budget: bodies, keyId: exchange.keyId },
      {
        onTooLarge: () => refuse(exchange, new BodyTooLargeError(bodyBytesMax)),
        onNoRoom: () => refuse(exchange, new TooManyBodiesError()),
        onTooManyValues: (message) => exchange.sendText(400, errorAnswer('null', invalidRequest(message))),
        onAborted: () => exchange.abandon(),
        onBody(body) {
          try {
            return answer(body, exchange, target)?.catch((error: unknown) => fail(exchange, error));
          } catch (error) {
            fail(exchange, error);
            return undefined;
          }
        },
      },
    );
  }

  function answer(body: Buffer, exchange: Exchange, target: Target): Promise<void> | undefined {
    if (typeof target !== 'string') return options.serveBody(body, exchange, target);
    refuseBody(body, exchange, chainNotOffered(options.explainUnoffered(target)));
    return undefined;
  }

  return (incoming, outgoing) => {
    const { slug, rest } = splitPath(incoming.url ?? '/');
    // An unoffered chain and a key: two segments, and the first is not the API's.
    const isCall = CHAIN_SEGMENT.test(slug) && rest !== '' && !rest.includes('/');
    const unoffered = isCall && !RESERVED_SEGMENTS.has(slug.toLowerCase()) ? slug : null;
    const target = chains.get(slug) ?? unoffered;
    if (target === null || ROUTED.has(rest) || incoming.method === 'OPTIONS') return false;
    const exchange = new Exchange(incoming, outgoing, gate);
    if (incoming.method === 'POST') take(exchange, rest, () => receive(exchange, target));
    else if (typeof target !== 'string') {
      showToPage(exchange, gate);
      const message = `Method ${incoming.method} is not allowed on /${slug}/{apiKey}: use POST`;
      exchange.sendMessage(405, message, ['allow', 'POST']);
    } else take(exchange, rest, () => exchange.sendMessage(404, options.explainUnoffered(target)));
    return true;
  };
}

function showToPage(exchange: Exchange, gate: RawGate): void {
  const { origin } = exchange.incoming.headers;
  if (origin !== undefined && exchange.cors.length === 0)
    exchange.cors = gate.corsHeaders(origin, gate.isOpen() === true);
}

const CHAIN_SEGMENT = /^[^.]+$/;

function refuse(exchange: Exchange, { status, message, headers }: ApiError): void {
  exchange.sendMessage(status, message, Object.entries(headers).flat());
}

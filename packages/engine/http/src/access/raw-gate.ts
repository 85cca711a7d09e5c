import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Logger, Registry } from '@chainstead/core';
import type { ApiError } from '../errors/api-error.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { createRequestLog, type RequestLog } from '../requests/request-observer.ts';
import {
  type CorsOptions,
  createOpenCheck,
  EXPOSED_HEADERS,
  foreignToOpenServer,
  readableBy,
  requestIdOf,
} from './request-gate.ts';

/** Runs before the router; false passes the request on. Handlers must use {@link RawGate}. */
export type RawHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

export interface RawGate {
  requestId(headers: IncomingHttpHeaders): string;
  isOpen(): boolean | Promise<boolean>;
  /** Null: an open server may respond. It refuses DNS rebinding and foreign pages. */
  refusal(headers: IncomingHttpHeaders): ApiError | null;
  corsHeaders(origin: string, isOpen: boolean): readonly string[];
  readonly log: RequestLog;
}

export interface RawGateOptions {
  readonly host: string;
  readonly keys: KeyStore;
  readonly cors: CorsOptions;
  readonly logger: Logger;
  readonly metrics: Registry;
}

export function createRawGate(options: RawGateOptions): RawGate {
  const exposed = ['access-control-expose-headers', EXPOSED_HEADERS.join(',')];
  const nextId = createRequestIds();
  const anyOrigin = ['access-control-allow-origin', '*', ...exposed];
  return {
    requestId: (headers) => {
      const id = headers['x-request-id'];
      return typeof id === 'string' ? requestIdOf(id) : nextId();
    },
    isOpen: createOpenCheck(options.host, options.keys),
    refusal: (headers) => {
      const site = headers['sec-fetch-site'];
      const fetchSite = typeof site === 'string' ? site : undefined;
      return foreignToOpenServer({ host: headers.host ?? '', origin: headers.origin, fetchSite });
    },
    corsHeaders: (origin, isOpen) => {
      const readable = readableBy(origin, options.cors, isOpen);
      if (readable === '*') return anyOrigin;
      if (readable === null) return ['vary', 'Origin'];
      return ['access-control-allow-origin', readable, 'vary', 'Origin', ...exposed];
    },
    log: createRequestLog(options),
  };
}

const COUNTER_DIGITS = 12;

/** The last group of the UUID is a counter: a random one takes 2 % of a response from memory. */
function createRequestIds(): () => string {
  const prefix = randomUUID().slice(0, -COUNTER_DIGITS);
  let count = 0;
  return () => {
    count += 1;
    return prefix + count.toString(16).padStart(COUNTER_DIGITS, '0');
  };
}

import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Logger, Registry } from '@chainstead/core';
import type { ApiError } from './api-error.ts';
import type { KeyStore } from './key-store.ts';
import {
  type CorsOptions,
  createOpenCheck,
  EXPOSED_HEADERS,
  foreignToOpenServer,
  readableBy,
  requestIdOf,
} from './request-gate.ts';
import { createRequestLog, type RequestLog } from './request-log.ts';

/**
 * Answers requests before the router sees them, where its layers would cost more than the answer. Called for every
 * request; false leaves it to the router. Whoever takes one owes it what the router's layers give: see {@link RawGate}.
 */
export type RawHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

/** What the layers before every route do, for requests that don't pass them. */
export interface RawGate {
  /** For the answer's `x-request-id` and log lines. */
  requestId(headers: IncomingHttpHeaders): string;
  /** Whether requests need no key; at once where it is known. */
  isOpen(): boolean | Promise<boolean>;
  /** Why an open server must not answer (against DNS rebinding and foreign pages); null: it may. */
  refusal(headers: IncomingHttpHeaders): ApiError | null;
  /** Names and values in turn, for the response to a page of this origin. @param isOpen whether requests need no key */
  corsHeaders(origin: string, isOpen: boolean): readonly string[];
  /** To be called once for each answer. */
  readonly log: RequestLog;
}

export interface RawGateOptions {
  /** The address that is listened on. */
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
      const given = headers['x-request-id'];
      return typeof given === 'string' ? requestIdOf(given) : nextId();
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

/** As UUIDs whose last group counts: a random one for each request would be a fiftieth of what an answer from memory costs. */
function createRequestIds(): () => string {
  const prefix = randomUUID().slice(0, -COUNTER_DIGITS);
  let count = 0;
  return () => {
    count += 1;
    return prefix + count.toString(16).padStart(COUNTER_DIGITS, '0');
  };
}

import {
  type Clock,
  errorText,
  isObject,
  isQuantity,
  type Logger,
  parseQuantity,
  sleepUnlessAborted,
} from '@chainstead/core';
import { Agent, type MessageEvent, WebSocket } from 'undici';
import { createRedactor } from '../redact-secrets.ts';
import { withoutMark } from '../transport/http-endpoint.ts';
import { backOffMs } from '../upstream-http/http-exchange.ts';
import type { Head, UpstreamConfig } from '../upstream-pool.ts';
import type { UpstreamState } from '../upstream-state.ts';

/** Only announces: blocks are read and checked over HTTP. */
export interface NewHeadsSubscription {
  readonly name: string;
  readonly state: UpstreamState;
  readonly isLive: boolean;
  /** Next number that is not `after`; null: connection dropped or signal aborted. */
  next(after: Head | null, signal: AbortSignal): Promise<number | null>;
  start(): void;
  close(): void;
}

/** After so many silent block times, the connection counts as dead. */
const SILENCE_BLOCKS = 20;
const SILENCE_MIN_MS = 30_000;
const FRESH_BLOCKS = 3;
const FRESH_MIN_MS = 3_000;
const RECONNECT_BASE_MS = 500;
const RECONNECT_MAX_MS = 60_000;

// Invariant: HTTP-BODY-BOUNDED
/** A header has some KB. Values without content take 30 MB per 1 MB of JSON. */
const DISPATCHER = new Agent({ webSocket: { maxPayloadSize: 1024 * 1024 } });

type Announcement = Pick<Head, 'number'> & { readonly hash: string };

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: connection, silence and back-off are one state.
export function createNewHeadsSubscription(options: {
  readonly config: UpstreamConfig;
  readonly state: UpstreamState;
  readonly chain: { readonly key: string; readonly blockTimeMs: number };
  readonly acceptsChainId: (id: number) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}): NewHeadsSubscription {
  const { config, state, chain, acceptsChainId, clock, logger } = options;
  const redact = createRedactor(config);
  const silenceMs = Math.max(SILENCE_MIN_MS, chain.blockTimeMs * SILENCE_BLOCKS);
  const freshMs = Math.max(FRESH_MIN_MS, chain.blockTimeMs * FRESH_BLOCKS);
  const ending = new AbortController();
  let announcedAt = Number.NEGATIVE_INFINITY;
  let newest: Announcement | null = null;
  let waiters: ((announcement: Announcement | null) => void)[] = [];

  function report(announcement: Announcement | null): void {
    const reported = waiters;
    waiters = [];
    for (const waiter of reported) waiter(announcement);
  }

  function connect(): Promise<string> {
    const ended = Promise.withResolvers<string>();
    const socket = new WebSocket(config.url, {
      dispatcher: DISPATCHER,
      ...(config.headers !== undefined && { headers: { ...config.headers } }),
    });
    let silence: NodeJS.Timeout | undefined;
    const finish = (reason: string): void => {
      clearTimeout(silence);
      ending.signal.removeEventListener('abort', onClose);
      announcedAt = Number.NEGATIVE_INFINITY;
      newest = null;
      socket.close();
      report(null);
      ended.resolve(reason);
    };
    const onClose = (): void => finish('closed');
    const listen = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => finish(`no announcement for ${silenceMs} ms`), silenceMs);
    };
    ending.signal.addEventListener('abort', onClose, { once: true });
    socket.addEventListener('open', () => {
      listen();
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }));
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'eth_subscribe', params: ['newHeads'] }));
    });
    socket.addEventListener('message', (event: MessageEvent) => {
      listen();
      const refusal = receive(event.data);
      if (refusal !== null) finish(refusal);
    });
    socket.addEventListener('error', (event) =>
      finish(event.message || errorText(event.error) || 'connection failed'),
    );
    socket.addEventListener('close', (event) => finish(`closed with code ${event.code}`));
    return ended.promise;
  }

  function receive(data: unknown): string | null {
    const message = parseMessage(data);
    if (message === null) return 'a message is not JSON';
    if (message.id === 1) {
      const id = Number(message.result);
      if (acceptsChainId(id)) return null;
      state.blamed('wrong-chain', `answers chain id ${id}`);
      state.disable(`answers chain id ${id}`);
      return 'wrong chain';
    }
    if (message.id === 2) {
      if (message.error !== undefined) return `refuses eth_subscribe: ${JSON.stringify(message.error)}`;
      if (state.disabledReason !== null) state.enable();
      return null;
    }
    const announcement = parseAnnouncement(message.params);
    if (announcement !== null) {
      newest = announcement;
      announcedAt = clock.now();
      state.setHead(announcement.number);
      report(announcement);
    }
    return null;
  }

  async function run(): Promise<void> {
    for (let tries = 0; !ending.signal.aborted; ) {
      const opened = clock.now();
      const reason = redact(await connect());
      if (ending.signal.aborted) return;
      if (clock.now() - opened > SILENCE_MIN_MS) tries = 0;
      if (reason !== 'wrong chain') state.blamed('connection', reason);
      const wait = backOffMs(tries++, RECONNECT_BASE_MS, RECONNECT_MAX_MS);
      logger.info({ chain: chain.key, upstream: state.name, reason, wait_ms: wait }, 'Subscription dropped');
      await sleepUnlessAborted(clock, wait, ending.signal);
    }
  }

  return {
    name: state.name,
    state,
    get isLive() {
      return clock.now() - announcedAt < freshMs;
    },
    next(after, signal) {
      if (newest !== null && after !== null && newest.number >= after.number && newest.hash !== after.hash)
        return Promise.resolve(newest.number);
      if (signal.aborted) return Promise.resolve(null);
      const { promise, resolve } = Promise.withResolvers<number | null>();
      const waiter = (announcement: Announcement | null): void => {
        signal.removeEventListener('abort', onAbort);
        resolve(announcement?.number ?? null);
      };
      const onAbort = (): void => {
        waiters = waiters.filter((other) => other !== waiter);
        resolve(null);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      waiters.push(waiter);
      return promise;
    },
    start: () => void run(),
    close: () => ending.abort(),
  };
}

function parseMessage(data: unknown): Readonly<Record<string, unknown>> | null {
  try {
    const json: unknown = JSON.parse(withoutMark(String(data)));
    return isObject(json) ? json : null;
  } catch {
    return null;
  }
}

function parseAnnouncement(params: unknown): Announcement | null {
  if (!isObject(params) || !isObject(params.result)) return null;
  const { number, hash } = params.result;
  return isQuantity(number) && typeof hash === 'string' ? { number: parseQuantity(number), hash } : null;
}

import { createHash } from 'node:crypto';
import type { Clock } from '@chainstead/core';
import {
  createCallSlots,
  createLearnedPaces,
  createTokenBucket,
  type Limiter,
  type UpstreamLimits,
} from '@chainstead/rpc/pool';
import type { LimitReport, LimitShare } from './metrics-exchange.ts';

interface SharedUpstreamLimits extends UpstreamLimits {
  receive(message: LimitShare): void;
}

/** An idle process has at least half a percent of a rate. */
const RATE_UNITS = 200;
const REPORT_MS = 1_000;
const WAITING_MS = 100;

/** @param send to the process that divides the limits */
export function createSharedLimits(
  send: (message: LimitReport) => void,
  clock: Pick<Clock, 'now'>,
): SharedUpstreamLimits {
  const receivers = new Map<string, (message: LimitShare) => void>();

  function share<One extends Limiter>(
    { upstream, limit, units }: Pick<LimitReport, 'upstream' | 'units'> & { readonly limit: number },
    create: (onChange: () => void) => One,
  ): One {
    const limiter = create(() => {
      if (held() < last.held) report();
      else timer ??= setTimeout(() => report(), Math.max(0, lastAt + WAITING_MS - clock.now())).unref();
    });
    let last: LimitReport = { type: 'limit-report', upstream, units, wanted: 0, held: 0, number: 0 };
    let lastAt = 0;
    let timer: NodeJS.Timeout | undefined;
    // The factors first: their quotient may miss a whole number.
    const held = (): number => Math.round((limiter.held() * units) / limit);

    function report(number = last.number): void {
      clearTimeout(timer);
      timer = undefined;
      lastAt = clock.now();
      const wanted = Math.min(units, Math.ceil((limiter.wanted() * units) / limit));
      const next = { ...last, wanted, held: held(), number };
      if (next.wanted === last.wanted && next.held === last.held && number === last.number) return;
      last = next;
      send(last);
    }

    setInterval(() => {
      limiter.endPeriod?.();
      report();
    }, REPORT_MS).unref();
    receivers.set(upstream, (message) => {
      limiter.setShare((message.share * limit) / units);
      report(message.number);
    });
    send(last);
    return limiter;
  }

  const paces = oncePerUpstream('rate', (upstream, limit) =>
    share({ upstream, limit, units: RATE_UNITS }, (onChange) => createTokenBucket({ share: 0, clock, onChange })),
  );
  const slots = oncePerUpstream('slots', (upstream, limit) =>
    share({ upstream, limit, units: limit }, (onChange) => createCallSlots({ share: 0, onChange })),
  );
  return {
    rateLimiterOf: ({ url, requestsPerSecond }) => paces(url, requestsPerSecond),
    concurrencyLimiterOf: ({ url, concurrency }) => slots(url, concurrency),
    learnedPaceOf: createLearnedPaces(clock),
    receive: (message) => receivers.get(message.upstream)?.(message),
  };
}

/** Separate limits of chains with the same URL each hold. Hashed: the URL holds secrets. */
function oncePerUpstream<One>(kind: string, create: (upstream: string, limit: number) => One) {
  const known = new Map<string, One>();
  return (url: string, limit: number | undefined): One | null => {
    if (limit === undefined) return null;
    const upstream = createHash('sha256').update(`${kind} ${limit} ${url}`).digest('base64url');
    const one = known.get(upstream) ?? create(upstream, limit);
    known.set(upstream, one);
    return one;
  };
}

import type { Clock, Logger } from '@chainstead/core';
import { backOffMs } from './back-off.ts';
import {
  type BreakerState,
  CLOSED_BREAKER,
  entered,
  failed,
  mayEnter,
  succeeded,
  trialAbandoned,
} from './circuit-breaker.ts';
import type { UpstreamFault } from './errors.ts';
import { badAnswer, goodAnswer, type Health, healthScore, UNKNOWN_HEALTH } from './health-score.ts';
import { createLatencyWindow, type LatencyWindow } from './latency-window.ts';
import type { PoolLimits } from './pool-limits.ts';
import { methodLabel, type PoolMetrics } from './pool-metrics.ts';
import type { FaultKind, UpstreamStatus } from './upstream-pool.ts';

/** Capabilities of an upstream as far as they are known. */
export interface Capabilities {
  blockReceipts: boolean | null;
  batch: boolean | null;
  traces: 'debug' | 'parity' | null;
  logTimestamps: boolean | null;
}

/** What is remembered of one upstream: health, circuit, pauses, capabilities, counters. */
export interface UpstreamState {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** Newest block number that it reported; null before the first. */
  readonly head: number | null;
  readonly inFlight: number;
  setHead(head: number): void;
  /** Highest block that it has actually given, not only announced; null before the first. */
  readonly served: number | null;
  setServed(block: number): void;
  /** Milliseconds until it may be asked, 0 for now; null while it is disabled. */
  waitMs(): number | null;
  /** Why it may not be asked now. */
  readonly obstacle: string;
  /** Whether it said that it does not serve the method. */
  lacks(method: string): boolean;
  score(bestHead: number | null): number;
  percentile(method: string, share: number): number;
  sent(): void;
  ended(): void;
  answered(method: string, latencyMs: number): void;
  /** Counts a fault and draws its consequences. */
  failed(fault: UpstreamFault): void;
  /** Counts a fault that the caller of the pool found. */
  blamed(kind: FaultKind, text: string): void;
  /** The attempt ended without an answer either way. */
  abandoned(): void;
  disable(reason: string): void;
  enable(): void;
  readonly disabledReason: string | null;
  /** When a disabled upstream, or one whose circuit is open, should be looked at again; epoch milliseconds. */
  readonly recheckAt: number | null;
  status(bestHead: number | null, logRangeMax: number | null): UpstreamStatus;
}

/** These say that the upstream is ill as a whole; the others concern one call. */
const BREAKING: ReadonlySet<FaultKind> = new Set([
  'timeout',
  'connection',
  'http-status',
  'not-json',
  'malformed',
  'truncated',
  'rpc-error',
]);
/** Lies weigh more than failures. */
const LIES: ReadonlySet<FaultKind> = new Set([
  'head-lie',
  'receipts-root-mismatch',
  'header-hash-mismatch',
  'missing-logs',
  'surplus-logs',
  'log-block-hash-mismatch',
  'truncated',
  'malformed',
]);
const THROTTLE_BASE_MS = 500;
const THROTTLE_MAX_MS = 60_000;
const BUDGET_BASE_MS = 60_000;
const BUDGET_MAX_MS = 3_600_000;
const HEAVY = /^(eth_getLogs|debug_|trace_)/;

export function createUpstreamState(options: {
  readonly name: string;
  readonly chain: { readonly key: string; readonly blockTimeMs: number };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: PoolLimits;
  readonly metrics: PoolMetrics;
}): UpstreamState {
  const { name, chain, clock, logger, limits, metrics } = options;
  const labels = { chain: chain.key, upstream: name };
  const breakerLimits = {
    failures: limits.breakerFailures,
    openMs: limits.breakerOpenMs,
    openMaxMs: limits.breakerOpenMaxMs,
  };
  const capabilities: Capabilities = { blockReceipts: null, batch: null, traces: null, logTimestamps: null };
  const latencies = createLatencyWindow();
  const latencyByMethod = new Map<string, LatencyWindow>();
  const faults: Partial<Record<FaultKind, number>> = {};
  const unsupportedUntil = new Map<string, number>();
  let health: Health = UNKNOWN_HEALTH;
  let breaker: BreakerState = CLOSED_BREAKER;
  let head: number | null = null;
  let served: number | null = null;
  let inFlight = 0;
  let requests = 0;
  let pausedUntil = 0;
  let pauseReason = '';
  let throttles = 0;
  let budgetRefusals = 0;
  let disabledReason: string | null = 'not checked yet';
  let disabledChecks = 0;
  let recheckAt: number | null = null;
  let lastError: UpstreamStatus['lastError'] = null;

  function setBreaker(next: BreakerState): void {
    if (next.kind !== breaker.kind) {
      if (next.kind === 'open') logger.warn({ ...logFields(), open_ms: next.openMs }, 'Upstream circuit opened');
      if (next.kind === 'closed') logger.info(logFields(), 'Upstream circuit closed');
    }
    breaker = next;
    showCircuit();
  }

  function logFields(): Record<string, unknown> {
    return { chain: chain.key, upstream: name, last_error: lastError?.text };
  }

  function showCircuit(): void {
    metrics.circuit.set(labels, disabledReason !== null ? 3 : { closed: 0, 'half-open': 1, open: 2 }[breaker.kind]);
  }

  function count(kind: FaultKind, method: string, text: string): void {
    faults[kind] = (faults[kind] ?? 0) + 1;
    metrics.faults.inc({ ...labels, kind });
    lastError = { at: clock.now(), method, text };
  }

  function pause(until: number, reason: string): void {
    if (until <= pausedUntil) return;
    pausedUntil = until;
    pauseReason = reason;
  }

  function throttled(fault: UpstreamFault, now: number): void {
    // A burst in flight is answered with many throttles at once: one pause for all of them.
    if (now < pausedUntil) return;
    const told = fault.hints.retryAfterMs;
    if (fault.hints.reaction === 'out-of-budget') {
      const wait = backOffMs(budgetRefusals++, BUDGET_BASE_MS, BUDGET_MAX_MS, 1);
      pause(now + Math.max(wait, told ?? 0), `out of budget: ${fault.text}`);
      logger.warn({ ...logFields(), wait_ms: wait }, 'Upstream is out of budget');
    } else {
      const wait = told ?? backOffMs(throttles++, THROTTLE_BASE_MS, THROTTLE_MAX_MS, Math.random());
      pause(now + Math.min(wait, BUDGET_MAX_MS), `throttled: ${fault.text}`);
    }
  }

  function lagMs(bestHead: number | null): number {
    return bestHead === null || head === null ? 0 : Math.max(0, bestHead - head - 1) * chain.blockTimeMs;
  }

  const state: UpstreamState = {
    name,
    capabilities,
    get head() {
      return head;
    },
    get served() {
      return served;
    },
    setServed(block) {
      if (served === null || block > served) served = block;
    },
    get inFlight() {
      return inFlight;
    },
    get disabledReason() {
      return disabledReason;
    },
    get recheckAt() {
      if (disabledReason !== null) return recheckAt;
      return breaker.kind === 'open' ? breaker.until : null;
    },
    get obstacle() {
      if (disabledReason !== null) return disabledReason;
      if (clock.now() < pausedUntil) return pauseReason;
      if (!mayEnter(breaker, clock.now())) return `circuit open after: ${lastError?.text ?? 'failures'}`;
      return 'busy';
    },
    setHead(next) {
      head = next;
      metrics.head.set(labels, next);
    },
    waitMs() {
      if (disabledReason !== null) return null;
      const now = clock.now();
      const pause = Math.max(0, pausedUntil - now);
      if (breaker.kind === 'half-open') return Math.max(pause, 50);
      return breaker.kind === 'open' ? Math.max(pause, breaker.until - now) : pause;
    },
    lacks(method) {
      return (unsupportedUntil.get(method) ?? 0) > clock.now();
    },
    score(bestHead) {
      return healthScore(health, clock.now(), lagMs(bestHead));
    },
    percentile(method, share) {
      return (latencyByMethod.get(method) ?? latencies).percentile(share);
    },
    sent() {
      setBreaker(entered(breaker, clock.now()));
      inFlight++;
      requests++;
      metrics.inFlight.set(labels, inFlight);
    },
    ended() {
      inFlight--;
      metrics.inFlight.set(labels, inFlight);
    },
    answered(method, latencyMs) {
      const now = clock.now();
      health = goodAnswer(health, now, HEAVY.test(method) ? null : latencyMs);
      setBreaker(succeeded(breaker));
      if (now >= pausedUntil) {
        throttles = 0;
        budgetRefusals = 0;
      }
      latencies.add(latencyMs);
      const label = methodLabel(method);
      let window = latencyByMethod.get(label);
      if (window === undefined) {
        window = createLatencyWindow();
        latencyByMethod.set(label, window);
      }
      window.add(latencyMs);
      metrics.latency.observe({ ...labels, method: label }, latencyMs / 1000);
    },
    failed(fault) {
      const now = clock.now();
      const { reaction } = fault.hints;
      if (reaction === 'unsupported') {
        unsupportedUntil.set(fault.method, now + limits.unsupportedMs);
        state.abandoned();
        return;
      }
      count(fault.kind, fault.method, fault.text);
      logger.debug(
        { chain: chain.key, upstream: name, method: fault.method, kind: fault.kind, text: fault.text },
        'Upstream fault',
      );
      if (reaction === 'range' || reaction === 'density' || reaction === 'batch-size') {
        // The upstream is well: it answered, with a limit.
        setBreaker(succeeded(breaker));
        return;
      }
      if (reaction === 'throttled' || reaction === 'out-of-budget') {
        throttled(fault, now);
        state.abandoned();
        return;
      }
      if (reaction === 'misconfigured') {
        state.disable(`refused by the provider: ${fault.text}`);
        return;
      }
      health = badAnswer(health, now, LIES.has(fault.kind) ? 3 : 1);
      if (BREAKING.has(fault.kind)) setBreaker(failed(breaker, now, breakerLimits));
      else state.abandoned();
    },
    blamed(kind, text) {
      count(kind, 'verification', text);
      health = badAnswer(health, clock.now(), LIES.has(kind) ? 3 : 1);
    },
    abandoned() {
      setBreaker(trialAbandoned(breaker, clock.now()));
    },
    disable(reason) {
      if (disabledReason !== reason) logger.warn({ chain: chain.key, upstream: name, reason }, 'Upstream is left out');
      disabledReason = reason;
      recheckAt = clock.now() + backOffMs(disabledChecks++, limits.recheckMs, limits.recheckMs * 60, Math.random());
      showCircuit();
    },
    enable() {
      if (disabledReason !== null) logger.info({ chain: chain.key, upstream: name }, 'Upstream is in use');
      disabledReason = null;
      disabledChecks = 0;
      recheckAt = null;
      setBreaker(CLOSED_BREAKER);
    },
    status(bestHead, logRangeMax) {
      const now = clock.now();
      const score = disabledReason === null ? state.score(bestHead) : 0;
      const open = breaker.kind !== 'closed';
      const paused = now < pausedUntil;
      const lag = lagMs(bestHead);
      const degraded = paused || score < 0.5;
      return {
        name,
        state: disabledReason !== null ? 'disabled' : open ? 'open-circuit' : degraded ? 'degraded' : 'healthy',
        reason:
          disabledReason ??
          (open
            ? (lastError?.text ?? null)
            : paused
              ? pauseReason
              : !degraded
                ? null
                : lag > 0
                  ? `${lag} ms behind the best head`
                  : (lastError?.text ?? 'slow answers')),
        score,
        head,
        latencyMs: { p50: latencies.percentile(0.5), p95: latencies.percentile(0.95) },
        requests,
        faults: { ...faults },
        capabilities: { ...capabilities, logRangeMax },
        lastError,
      };
    },
  };
  showCircuit();
  return state;
}

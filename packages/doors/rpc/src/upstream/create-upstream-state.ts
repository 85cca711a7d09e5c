import { type Clock, getOrCompute, type Logger } from '@chainstead/core';
import type { LearnedPace, PoolLimits } from '../limits/call-limits.ts';
import { methodLabel, type PoolMetrics } from '../pool-metrics.ts';
import { backOffMs } from '../upstream-http/http-exchange.ts';
import type { FaultKind, OnWrongAnswer, UpstreamStatus } from '../upstream-pool.ts';
import type { Capabilities, UpstreamState } from '../upstream-state.ts';
import * as breaker from './health-score.ts';
import {
  badAnswer,
  createMethodLatencies,
  createPause,
  goodAnswer,
  type Health,
  healthScore,
  UNKNOWN_HEALTH,
} from './health-score.ts';

const LIE_WEIGHT = 3;
const UNSUPPORTED_MAX = 1_000;
const HEAVY = /^(eth_getLogs|batch|debug_|trace_)/;
const TRIAL_MS = 50;
const DEGRADED_SCORE = 0.5;
const CIRCUIT = { closed: 0, 'half-open': 1, open: 2 } as const;
const DISABLED = 3;

interface StateOptions {
  readonly name: string;
  readonly chain: { readonly key: string; readonly blockTimeMs: number };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: PoolLimits;
  readonly metrics: PoolMetrics;
  /** @default none, for upstreams that only announce */
  readonly learned?: LearnedPace;
  readonly onWrongAnswer?: OnWrongAnswer | undefined;
  /** Ends the gauges. @default never */
  readonly closing?: AbortSignal;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: health, circuit and pauses are one state.
export function createUpstreamState(options: StateOptions): UpstreamState {
  const { name, chain, clock, logger, limits, metrics, learned, onWrongAnswer, closing } = options;
  const labels = { chain: chain.key, upstream: name };
  const capabilities: Capabilities = { blockReceipts: null, batch: null, traces: null, logTimestamps: null };
  const observed = new Map<string, { observe(seconds: number): void }>();
  const pause = createPause();
  const latencies = createMethodLatencies();
  const faults: Partial<Record<FaultKind, number>> = {};
  const unsupportedUntil = new Map<string, number>();
  let health: Health = UNKNOWN_HEALTH;
  let circuit: breaker.BreakerState = breaker.CLOSED_BREAKER;
  let head: number | null = null;
  let headAt: number | null = null;
  let served: number | null = null;
  let historyGone: { readonly upTo: number; readonly until: number } | null = null;
  let inFlight = 0;
  let requests = 0;
  let disabledReason: string | null = 'not checked yet';
  let disabledChecks = 0;
  let recheckAt: number | null = null;
  let lastError: UpstreamStatus['lastError'] = null;
  /** The last errors that opened the circuit and lowered the score: other errors don't explain the state. */
  let brokenBy: string | null = null;
  let worsenedBy: string | null = null;
  metrics.inFlight.addSource(labels, () => inFlight, closing);
  metrics.pauseSeconds.addSource(labels, () => Math.max(0, pause.until - clock.now()) / 1_000, closing);
  showCircuit();

  function condition(bestHead: number | null, score: number): Pick<UpstreamStatus, 'state' | 'reason'> {
    if (disabledReason !== null) return { state: 'disabled', reason: disabledReason };
    if (circuit.kind !== 'closed') return { state: 'open-circuit', reason: brokenBy };
    if (clock.now() < pause.until) return { state: 'degraded', reason: pause.reason };
    if (score >= DEGRADED_SCORE) return { state: 'healthy', reason: null };
    const lag = lagMs(bestHead);
    return {
      state: 'degraded',
      reason: lag > 0 ? `${lag} ms behind the best head` : (worsenedBy ?? 'slow answers'),
    };
  }

  function lagMs(bestHead: number | null): number {
    return bestHead === null || head === null ? 0 : Math.max(0, bestHead - head - 1) * chain.blockTimeMs;
  }

  function count(kind: FaultKind, method: string, text: string): void {
    faults[kind] = (faults[kind] ?? 0) + 1;
    metrics.faults.inc({ ...labels, kind });
    lastError = { at: clock.now(), method, text };
    logger.debug({ ...labels, method, kind, text }, 'Upstream fault');
    if (INVALID_RESPONSES.has(kind)) onWrongAnswer?.({ ...labels, kind, ...lastError });
  }

  function worsen(kind: FaultKind, text: string): void {
    worsenedBy = text;
    health = badAnswer(health, clock.now(), INVALID_RESPONSES.has(kind) ? LIE_WEIGHT : 1);
  }

  function setCircuit(next: breaker.BreakerState): void {
    if (next === circuit) return;
    const { kind } = circuit;
    circuit = next;
    if (next.kind === kind) return;
    if (next.kind === 'open')
      logger.warn({ ...labels, last_error: brokenBy, open_ms: next.openMs }, 'Upstream circuit opened');
    if (next.kind === 'closed') logger.info(labels, 'Upstream circuit closed');
    showCircuit();
  }

  function showCircuit(): void {
    metrics.circuitState.set(labels, disabledReason !== null ? DISABLED : CIRCUIT[circuit.kind]);
  }

  function abandoned(): void {
    setCircuit(breaker.trialAbandoned(circuit, clock.now()));
  }

  function disable(reason: string): void {
    if (disabledReason !== reason) logger.warn({ ...labels, reason }, 'Upstream is left out');
    disabledReason = reason;
    const { recheckMs } = limits;
    recheckAt = clock.now() + backOffMs(disabledChecks++, recheckMs, recheckMs * 60);
    showCircuit();
  }

  const score = (bestHead: number | null): number => healthScore(health, clock.now(), lagMs(bestHead));

  return {
    name,
    capabilities,
    get head() {
      return head;
    },
    setHead(number) {
      head = number;
      headAt = clock.now();
      metrics.upstreamHead.set(labels, number);
    },
    get served() {
      return served;
    },
    setServed(block) {
      if (served === null || block > served) served = block;
    },
    get learnedRate() {
      return learned?.perSecond ?? null;
    },
    get disabledReason() {
      return disabledReason;
    },
    get recheckAt() {
      if (disabledReason !== null) return recheckAt;
      return circuit.kind === 'open' ? circuit.until : null;
    },
    get obstacle() {
      if (disabledReason !== null) return disabledReason;
      if (clock.now() < pause.until) return pause.reason;
      return breaker.mayEnter(circuit, clock.now()) ? 'busy' : `circuit open after: ${brokenBy ?? 'failures'}`;
    },
    waitMs() {
      if (disabledReason !== null) return null;
      const pauseMs = Math.max(0, pause.until - clock.now());
      if (circuit.kind === 'half-open') return Math.max(pauseMs, TRIAL_MS);
      return circuit.kind === 'open' ? Math.max(pauseMs, circuit.until - clock.now()) : pauseMs;
    },
    lacks: (method) => (unsupportedUntil.get(method) ?? 0) > clock.now(),
    lacksHistory: (block) => historyGone !== null && block <= historyGone.upTo && clock.now() < historyGone.until,
    setHistoryGone(upTo) {
      historyGone = { upTo, until: clock.now() + limits.unsupportedMs };
    },
    score,
    percentile: (method, share) => latencies.percentile(methodLabel(method), share),
    sent() {
      setCircuit(breaker.entered(circuit, clock.now()));
      inFlight++;
      requests++;
    },
    ended() {
      inFlight--;
    },
    answered(method, latencyMs) {
      const label = methodLabel(method);
      health = goodAnswer(health, clock.now(), HEAVY.test(method) ? null : latencyMs);
      setCircuit(breaker.succeeded(circuit));
      pause.answered(clock.now());
      latencies.add(label, latencyMs);
      getOrCompute(observed, label, () =>
        metrics.requestDurationSeconds.labels({ ...labels, method: label }),
      ).observe(latencyMs / 1000);
    },
    failed(fault, calls = 1) {
      const { reaction } = fault.hints;
      if (reaction === 'unsupported') {
        unsupportedUntil.set(fault.method, clock.now() + limits.unsupportedMs);
        // Clients choose method names: the oldest makes room.
        const [oldest] = unsupportedUntil.keys();
        if (oldest !== undefined && unsupportedUntil.size > UNSUPPORTED_MAX) unsupportedUntil.delete(oldest);
        abandoned();
        return;
      }
      count(fault.kind, fault.method, fault.text);
      switch (reaction) {
        case 'range':
        case 'density':
        case 'batch-size':
          setCircuit(breaker.succeeded(circuit));
          return;
        case 'throttled':
        case 'out-of-budget':
          if (reaction === 'throttled') learned?.refused(calls);
          pause.begin(fault, clock.now());
          abandoned();
          return;
        case 'misconfigured':
          disable(`refused by the provider: ${fault.text}`);
          return;
        default:
          worsen(fault.kind, fault.text);
          if (BREAKING.has(fault.kind)) {
            brokenBy = fault.text;
            setCircuit(breaker.failed(circuit, clock.now(), limits));
          } else abandoned();
      }
    },
    noted(fault) {
      count(fault.kind, fault.method, fault.text);
      abandoned();
    },
    blamed(kind, text) {
      count(kind, 'verification', text);
      worsen(kind, text);
    },
    abandoned,
    disable,
    enable() {
      if (disabledReason !== null) logger.info(labels, 'Upstream is in use');
      disabledReason = null;
      disabledChecks = 0;
      recheckAt = null;
      setCircuit(breaker.CLOSED_BREAKER);
      showCircuit();
    },
    status(bestHead, logRangeMax) {
      const shownScore = disabledReason === null ? score(bestHead) : 0;
      return {
        name,
        ...condition(bestHead, shownScore),
        score: shownScore,
        head,
        headAt,
        latencyMs: { p50: latencies.percentile(null, 0.5), p95: latencies.percentile(null, 0.95) },
        requests,
        learnedRate: learned?.perSecond ?? null,
        faults: { ...faults },
        capabilities: { ...capabilities, logRangeMax },
        lastError,
      };
    },
  };
}

const BREAKING: ReadonlySet<FaultKind> = new Set([
  'timeout',
  'connection',
  'http-status',
  'not-json',
  'malformed',
  'truncated',
  'rpc-error',
]);
/** Invalid responses weigh more than failures. */
const INVALID_RESPONSES: ReadonlySet<FaultKind> = new Set([
  'wrong-chain',
  'head-lie',
  'receipts-root-mismatch',
  'header-hash-mismatch',
  'transactions-root-mismatch',
  'transaction-hash-mismatch',
  'missing-logs',
  'surplus-logs',
  'log-block-hash-mismatch',
  'balance-mismatch',
  'truncated',
  'malformed',
]);

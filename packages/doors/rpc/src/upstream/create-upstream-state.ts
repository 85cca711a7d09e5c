import type { Clock, Logger } from '@chainstead/core';
import type { UpstreamFault } from '../errors.ts';
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

class RememberedState implements UpstreamState {
  readonly capabilities: Capabilities = { blockReceipts: null, batch: null, traces: null, logTimestamps: null };
  readonly #options: StateOptions;
  readonly #labels: { chain: string; upstream: string };
  readonly #observed = new Map<string, { observe(seconds: number): void }>();
  readonly #pause = createPause();
  readonly #latencies = createMethodLatencies();
  readonly #faults: Partial<Record<FaultKind, number>> = {};
  readonly #unsupportedUntil = new Map<string, number>();
  #health: Health = UNKNOWN_HEALTH;
  #breaker: breaker.BreakerState = breaker.CLOSED_BREAKER;
  #head: number | null = null;
  #headAt: number | null = null;
  #served: number | null = null;
  #historyGone: { readonly upTo: number; readonly until: number } | null = null;
  #inFlight = 0;
  #requests = 0;
  #disabledReason: string | null = 'not checked yet';
  #disabledChecks = 0;
  #recheckAt: number | null = null;
  #lastError: UpstreamStatus['lastError'] = null;
  /** The last errors that opened the circuit and lowered the score: other errors don't explain the state. */
  #brokenBy: string | null = null;
  #worsenedBy: string | null = null;

  constructor(options: StateOptions) {
    this.#options = options;
    this.#labels = { chain: options.chain.key, upstream: options.name };
    const { closing, metrics } = options;
    const pauseSeconds = (): number => Math.max(0, this.#pause.until - this.#now()) / 1_000;
    metrics.inFlight.addSource(this.#labels, () => this.#inFlight, closing);
    metrics.pauseSeconds.addSource(this.#labels, pauseSeconds, closing);
    this.#showCircuit();
  }

  get name(): string {
    return this.#options.name;
  }

  get head(): number | null {
    return this.#head;
  }

  setHead(head: number): void {
    this.#head = head;
    this.#headAt = this.#now();
    this.#options.metrics.upstreamHead.set(this.#labels, head);
  }

  get served(): number | null {
    return this.#served;
  }

  setServed(block: number): void {
    if (this.#served === null || block > this.#served) this.#served = block;
  }

  get learnedRate(): number | null {
    return this.#options.learned?.perSecond ?? null;
  }

  get disabledReason(): string | null {
    return this.#disabledReason;
  }

  get recheckAt(): number | null {
    if (this.#disabledReason !== null) return this.#recheckAt;
    return this.#breaker.kind === 'open' ? this.#breaker.until : null;
  }

  get obstacle(): string {
    if (this.#disabledReason !== null) return this.#disabledReason;
    if (this.#now() < this.#pause.until) return this.#pause.reason;
    if (breaker.mayEnter(this.#breaker, this.#now())) return 'busy';
    return `circuit open after: ${this.#brokenBy ?? 'failures'}`;
  }

  waitMs(): number | null {
    if (this.#disabledReason !== null) return null;
    const pause = Math.max(0, this.#pause.until - this.#now());
    if (this.#breaker.kind === 'half-open') return Math.max(pause, TRIAL_MS);
    return this.#breaker.kind === 'open' ? Math.max(pause, this.#breaker.until - this.#now()) : pause;
  }

  lacks(method: string): boolean {
    return (this.#unsupportedUntil.get(method) ?? 0) > this.#now();
  }

  lacksHistory(block: number): boolean {
    return this.#historyGone !== null && block <= this.#historyGone.upTo && this.#now() < this.#historyGone.until;
  }

  setHistoryGone(upTo: number): void {
    this.#historyGone = { upTo, until: this.#now() + this.#options.limits.unsupportedMs };
  }

  score(bestHead: number | null): number {
    return healthScore(this.#health, this.#now(), this.#lagMs(bestHead));
  }

  percentile(method: string, share: number): number {
    return this.#latencies.percentile(methodLabel(method), share);
  }

  sent(): void {
    this.#setBreaker(breaker.entered(this.#breaker, this.#now()));
    this.#inFlight++;
    this.#requests++;
  }

  ended(): void {
    this.#inFlight--;
  }

  answered(method: string, latencyMs: number): void {
    const label = methodLabel(method);
    this.#health = goodAnswer(this.#health, this.#now(), HEAVY.test(method) ? null : latencyMs);
    this.#setBreaker(breaker.succeeded(this.#breaker));
    this.#pause.answered(this.#now());
    this.#latencies.add(label, latencyMs);
    let observed = this.#observed.get(label);
    if (observed === undefined) {
      observed = this.#options.metrics.requestDurationSeconds.labels({ ...this.#labels, method: label });
      this.#observed.set(label, observed);
    }
    observed.observe(latencyMs / 1000);
  }

  failed(fault: UpstreamFault, calls = 1): void {
    const { reaction } = fault.hints;
    if (reaction === 'unsupported') {
      this.#unsupportedUntil.set(fault.method, this.#now() + this.#options.limits.unsupportedMs);
      // Clients choose method names: the oldest makes room.
      const [oldest] = this.#unsupportedUntil.keys();
      if (oldest !== undefined && this.#unsupportedUntil.size > UNSUPPORTED_MAX)
        this.#unsupportedUntil.delete(oldest);
      this.abandoned();
      return;
    }
    this.#count(fault.kind, fault.method, fault.text);
    switch (reaction) {
      case 'range':
      case 'density':
      case 'batch-size':
        this.#setBreaker(breaker.succeeded(this.#breaker));
        return;
      case 'throttled':
      case 'out-of-budget':
        if (reaction === 'throttled') this.#options.learned?.refused(calls);
        this.#pause.begin(fault, this.#now());
        this.abandoned();
        return;
      case 'misconfigured':
        this.disable(`refused by the provider: ${fault.text}`);
        return;
      default:
        this.#worsen(fault.kind, fault.text);
        if (BREAKING.has(fault.kind)) {
          this.#brokenBy = fault.text;
          this.#setBreaker(breaker.failed(this.#breaker, this.#now(), this.#options.limits));
        } else this.abandoned();
    }
  }

  noted(fault: UpstreamFault): void {
    this.#count(fault.kind, fault.method, fault.text);
    this.abandoned();
  }

  blamed(kind: FaultKind, text: string): void {
    this.#count(kind, 'verification', text);
    this.#worsen(kind, text);
  }

  abandoned(): void {
    this.#setBreaker(breaker.trialAbandoned(this.#breaker, this.#now()));
  }

  disable(reason: string): void {
    const { logger, limits } = this.#options;
    if (this.#disabledReason !== reason) logger.warn({ ...this.#labels, reason }, 'Upstream is left out');
    this.#disabledReason = reason;
    const wait = backOffMs(this.#disabledChecks++, limits.recheckMs, limits.recheckMs * 60, Math.random());
    this.#recheckAt = this.#now() + wait;
    this.#showCircuit();
  }

  enable(): void {
    if (this.#disabledReason !== null) this.#options.logger.info(this.#labels, 'Upstream is in use');
    this.#disabledReason = null;
    this.#disabledChecks = 0;
    this.#recheckAt = null;
    this.#setBreaker(breaker.CLOSED_BREAKER);
    this.#showCircuit();
  }

  status(bestHead: number | null, logRangeMax: number | null): UpstreamStatus {
    const score = this.#disabledReason === null ? this.score(bestHead) : 0;
    const { state, reason } = this.#condition(bestHead, score);
    return {
      name: this.name,
      state,
      reason,
      score,
      head: this.#head,
      headAt: this.#headAt,
      latencyMs: { p50: this.#latencies.percentile(null, 0.5), p95: this.#latencies.percentile(null, 0.95) },
      requests: this.#requests,
      learnedRate: this.learnedRate,
      faults: { ...this.#faults },
      capabilities: { ...this.capabilities, logRangeMax },
      lastError: this.#lastError,
    };
  }

  #condition(bestHead: number | null, score: number): Pick<UpstreamStatus, 'state' | 'reason'> {
    if (this.#disabledReason !== null) return { state: 'disabled', reason: this.#disabledReason };
    if (this.#breaker.kind !== 'closed') return { state: 'open-circuit', reason: this.#brokenBy };
    if (this.#now() < this.#pause.until) return { state: 'degraded', reason: this.#pause.reason };
    if (score >= DEGRADED_SCORE) return { state: 'healthy', reason: null };
    const lag = this.#lagMs(bestHead);
    return {
      state: 'degraded',
      reason: lag > 0 ? `${lag} ms behind the best head` : (this.#worsenedBy ?? 'slow answers'),
    };
  }

  #now(): number {
    return this.#options.clock.now();
  }

  #lagMs(bestHead: number | null): number {
    if (bestHead === null || this.#head === null) return 0;
    return Math.max(0, bestHead - this.#head - 1) * this.#options.chain.blockTimeMs;
  }

  #count(kind: FaultKind, method: string, text: string): void {
    this.#faults[kind] = (this.#faults[kind] ?? 0) + 1;
    this.#options.metrics.faults.inc({ ...this.#labels, kind });
    this.#lastError = { at: this.#now(), method, text };
    this.#options.logger.debug({ ...this.#labels, method, kind, text }, 'Upstream fault');
    if (INVALID_RESPONSES.has(kind))
      this.#options.onWrongAnswer?.({ ...this.#labels, kind, method, text, at: this.#now() });
  }

  #worsen(kind: FaultKind, text: string): void {
    this.#worsenedBy = text;
    this.#health = badAnswer(this.#health, this.#now(), INVALID_RESPONSES.has(kind) ? LIE_WEIGHT : 1);
  }

  #setBreaker(next: breaker.BreakerState): void {
    if (next === this.#breaker) return;
    if (next.kind === 'open' && this.#breaker.kind !== 'open')
      this.#options.logger.warn(
        { ...this.#labels, last_error: this.#brokenBy, open_ms: next.openMs },
        'Upstream circuit opened',
      );
    if (next.kind === 'closed' && this.#breaker.kind !== 'closed')
      this.#options.logger.info(this.#labels, 'Upstream circuit closed');
    const isOther = next.kind !== this.#breaker.kind;
    this.#breaker = next;
    if (isOther) this.#showCircuit();
  }

  #showCircuit(): void {
    const value = this.#disabledReason !== null ? DISABLED : CIRCUIT[this.#breaker.kind];
    this.#options.metrics.circuitState.set(this.#labels, value);
  }
}

export function createUpstreamState(options: StateOptions): UpstreamState {
  return new RememberedState(options);
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

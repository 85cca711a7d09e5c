import {
  Counter,
  Gauge,
  Histogram,
  ReadGauge,
  type Registry,
  sharedMetric,
  TalliedCounter,
  type Tally,
} from '@chainstead/core';
import type { ConcurrencyLimiter, LearnedPace, RateLimiter } from './limits/call-limits.ts';
import type { UpstreamConfig } from './upstream-pool.ts';

/** Buckets of the request time in seconds. */
export const LATENCY_BUCKETS: readonly number[] = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The Prometheus metrics of all pools of a process. */
export interface PoolMetrics {
  readonly requests: TalliedCounter<'chain' | 'upstream' | 'method' | 'outcome'>;
  readonly latency: Histogram<'chain' | 'upstream' | 'method'>;
  readonly faults: Counter<'chain' | 'upstream' | 'kind'>;
  readonly head: Gauge<'chain' | 'upstream'>;
  readonly inFlight: ReadGauge<'chain' | 'upstream'>;
  readonly circuit: Gauge<'chain' | 'upstream'>;
  readonly rateAllowed: Gauge<'chain' | 'upstream'>;
  readonly rateLearned: ReadGauge<'chain' | 'upstream'>;
  readonly callsWaiting: ReadGauge<'chain' | 'upstream'>;
  readonly pause: ReadGauge<'chain' | 'upstream'>;
}

/** Registers the metrics, or returns those that the pool of another chain already registered. */
export function createPoolMetrics(registry: Registry): PoolMetrics {
  const registers = [registry];
  return {
    requests: sharedMetric(registry, TalliedCounter<'chain' | 'upstream' | 'method' | 'outcome'>, {
      name: 'chainstead_rpc_requests_total',
      help: 'Number of JSON-RPC calls by outcome: ok, error (the call itself failed) or the fault kind',
      labelNames: ['chain', 'upstream', 'method', 'outcome'],
      registers,
    }),
    latency: sharedMetric(registry, Histogram<'chain' | 'upstream' | 'method'>, {
      name: 'chainstead_rpc_request_duration_seconds',
      help: 'Time from sending a JSON-RPC request to parsing its response',
      labelNames: ['chain', 'upstream', 'method'],
      buckets: [...LATENCY_BUCKETS],
      registers,
    }),
    faults: sharedMetric(registry, Counter<'chain' | 'upstream' | 'kind'>, {
      name: 'chainstead_rpc_faults_total',
      help: 'Number of upstream faults, by kind',
      labelNames: ['chain', 'upstream', 'kind'],
      registers,
    }),
    head: sharedMetric(registry, Gauge<'chain' | 'upstream'>, {
      name: 'chainstead_rpc_upstream_head',
      help: 'Newest block number reported by the upstream',
      labelNames: ['chain', 'upstream'],
      registers,
    }),
    inFlight: sharedMetric(registry, ReadGauge<'chain' | 'upstream'>, {
      name: 'chainstead_rpc_in_flight',
      help: 'Number of JSON-RPC requests sent to the upstream and waiting for a response',
      labelNames: ['chain', 'upstream'],
      registers,
    }),
    circuit: sharedMetric(registry, Gauge<'chain' | 'upstream'>, {
      name: 'chainstead_rpc_circuit_state',
      help: 'Circuit breaker state of the upstream: 0 closed, 1 half-open, 2 open, 3 disabled',
      labelNames: ['chain', 'upstream'],
      registers,
    }),
    pause: sharedMetric(registry, ReadGauge<'chain' | 'upstream'>, {
      name: 'chainstead_rpc_pause_seconds',
      help: 'Seconds until the upstream receives calls again, because it throttled them or its budget is used up (then a minute or more), otherwise 0',
      labelNames: ['chain', 'upstream'],
      registers,
    }),
    rateAllowed: sharedMetric(registry, Gauge<'chain' | 'upstream'>, {
      name: 'chainstead_rpc_rate_allowed',
      help: 'Maximum calls per second to the upstream from all processes of one `chainstead start` (RPC_RATE)',
      labelNames: ['chain', 'upstream'],
      registers,
    }),
    rateLearned: sharedMetric(registry, ReadGauge<'chain' | 'upstream'>, {
      name: 'chainstead_rpc_rate_learned',
      help: 'Calls per second of this process that refusals of the upstream taught. 0 if none was learned',
      labelNames: ['chain', 'upstream'],
      registers,
    }),
    callsWaiting: sharedMetric(registry, ReadGauge<'chain' | 'upstream'>, {
      name: 'chainstead_rpc_turns_waiting',
      help: 'Number of calls in this process waiting because of RPC_RATE, RPC_CONCURRENCY or a learned rate',
      labelNames: ['chain', 'upstream'],
      registers,
    }),
  };
}

/** Registers the allowed rate and the waiting calls of an upstream. The request counters cover its usage. */
export function measureLimits(
  metrics: PoolMetrics,
  labels: { readonly chain: string; readonly upstream: string },
  { config, pace, learned, slots }: UpstreamLimits,
): void {
  if (config.requestsPerSecond !== undefined) metrics.rateAllowed.set(labels, config.requestsPerSecond);
  metrics.rateLearned.addSource(labels, () => learned.perSecond ?? 0);
  metrics.callsWaiting.addSource(labels, () => pace.waiting + (slots?.waiting ?? 0));
}

interface UpstreamLimits {
  readonly config: UpstreamConfig;
  readonly pace: RateLimiter;
  readonly learned: LearnedPace;
  readonly slots: ConcurrencyLimiter | null;
}

/** Counts the requests of one upstream. Frequent counters are looked up by two short keys, not by all labels. */
export function createRequestCounter(
  metrics: PoolMetrics,
  labels: { readonly chain: string; readonly upstream: string },
): (method: string, outcome: string) => void {
  /** By outcome, then method. */
  const tallies = new Map<string, Map<string, Tally>>();
  return (method, outcome) => {
    const label = methodLabel(method);
    let byMethod = tallies.get(outcome);
    if (byMethod === undefined) {
      byMethod = new Map();
      tallies.set(outcome, byMethod);
    }
    let tally = byMethod.get(label);
    if (tally === undefined) {
      tally = metrics.requests.tally({ ...labels, method: label, outcome });
      byMethod.set(label, tally);
    }
    tally.value++;
  };
}

/** Gateways forward untrusted input: only method names known to nodes become label values. */
const KNOWN: ReadonlySet<string> = new Set([
  ...[
    'chainId blockNumber gasPrice feeHistory maxPriorityFeePerGas call estimateGas createAccessList sendRawTransaction',
    'getBalance getCode getStorageAt getProof getTransactionCount getLogs getBlockByNumber getBlockByHash',
    'getBlockReceipts getBlockTransactionCountByHash getBlockTransactionCountByNumber getTransactionReceipt',
    'getTransactionByHash getTransactionByBlockHashAndIndex getTransactionByBlockNumberAndIndex',
  ].flatMap((names) => names.split(' ').map((name) => `eth_${name}`)),
  'debug_traceBlockByNumber',
  'debug_traceBlockByHash',
  'debug_traceTransaction',
  'trace_block',
  'net_version',
]);

/** The label value of a method: its name if nodes know it, otherwise `other`. */
export function methodLabel(method: string): string {
  return KNOWN.has(method) ? method : 'other';
}

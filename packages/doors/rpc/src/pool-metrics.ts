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

export const LATENCY_BUCKETS: readonly number[] = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export type PoolMetrics = ReturnType<typeof createPoolMetrics>;

export function createPoolMetrics(registry: Registry) {
  const registers = [registry];
  const gauge = (name: string, help: string) =>
    sharedMetric(registry, Gauge<'chain' | 'upstream'>, { name, help, labelNames: ['chain', 'upstream'], registers });
  const readGauge = (name: string, help: string) =>
    sharedMetric(registry, ReadGauge<'chain' | 'upstream'>, {
      name,
      help,
      labelNames: ['chain', 'upstream'],
      registers,
    });
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
    head: gauge('chainstead_rpc_upstream_head', 'Newest block number reported by the upstream'),
    inFlight: readGauge(
      'chainstead_rpc_in_flight',
      'Number of JSON-RPC requests sent to the upstream and waiting for a response',
    ),
    circuit: gauge(
      'chainstead_rpc_circuit_state',
      'Circuit breaker state of the upstream: 0 closed, 1 half-open, 2 open, 3 disabled',
    ),
    pause: readGauge(
      'chainstead_rpc_pause_seconds',
      'Seconds until the upstream receives calls again, because it throttled them or its budget is used up (then a minute or more), otherwise 0',
    ),
    rateAllowed: gauge(
      'chainstead_rpc_rate_allowed',
      'Maximum calls per second to the upstream from all processes of one `chainstead start` (RPC_RATE)',
    ),
    rateLearned: readGauge(
      'chainstead_rpc_rate_learned',
      'Calls per second of this process that refusals of the upstream taught. 0 if none was learned',
    ),
    callsWaiting: readGauge(
      'chainstead_rpc_turns_waiting',
      'Number of calls in this process waiting because of RPC_RATE, RPC_CONCURRENCY or a learned rate',
    ),
  };
}

export function measureLimits(
  metrics: PoolMetrics,
  labels: { readonly chain: string; readonly upstream: string },
  {
    config,
    pace,
    learned,
    slots,
  }: {
    readonly config: UpstreamConfig;
    readonly pace: RateLimiter;
    readonly learned: LearnedPace;
    readonly slots: ConcurrencyLimiter | null;
  },
): void {
  if (config.requestsPerSecond !== undefined) metrics.rateAllowed.set(labels, config.requestsPerSecond);
  metrics.rateLearned.addSource(labels, () => learned.perSecond ?? 0);
  metrics.callsWaiting.addSource(labels, () => pace.waiting + (slots?.waiting ?? 0));
}

export function createRequestCounter(
  metrics: PoolMetrics,
  labels: { readonly chain: string; readonly upstream: string },
): (method: string, outcome: string) => void {
  const tallies = new Map<string, Map<string, Tally>>();
  return (method, outcome) => {
    const label = methodLabel(method);
    const byMethod = tallies.get(outcome) ?? new Map<string, Tally>();
    if (byMethod.size === 0) tallies.set(outcome, byMethod);
    const tally = byMethod.get(label) ?? metrics.requests.tally({ ...labels, method: label, outcome });
    if (tally.value++ === 0) byMethod.set(label, tally);
  };
}

/** Untrusted names must not become label values. */
const KNOWN: ReadonlySet<string> = new Set([
  ...[
    'chainId blockNumber gasPrice feeHistory maxPriorityFeePerGas call estimateGas createAccessList sendRawTransaction',
    'getBalance getCode getStorageAt getProof getTransactionCount getLogs getBlockByNumber getBlockByHash',
    'getBlockReceipts getBlockTransactionCountByHash getBlockTransactionCountByNumber getTransactionReceipt',
    'getTransactionByHash getTransactionByBlockHashAndIndex getTransactionByBlockNumberAndIndex',
  ].flatMap((names) => names.split(' ').map((name) => `eth_${name}`)),
  ...['debug_traceBlockByNumber', 'debug_traceBlockByHash', 'debug_traceTransaction', 'trace_block', 'net_version'],
]);

export function methodLabel(method: string): string {
  return KNOWN.has(method) ? method : 'other';
}

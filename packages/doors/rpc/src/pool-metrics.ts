import { counter, defineMetrics, gauge, getOrCompute, histogram, type Tally } from '@chainstead/core';

export const LATENCY_BUCKETS: readonly number[] = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export type PoolMetrics = ReturnType<typeof createPoolMetrics>;

export const createPoolMetrics = defineMetrics('chainstead_rpc', {
  requests: counter('Number of JSON-RPC calls by outcome: ok, error (the call itself failed) or the fault kind', [
    'chain',
    'upstream',
    'method',
    'outcome',
  ]),
  requestDurationSeconds: histogram(
    'Time from sending a JSON-RPC request to parsing its response',
    LATENCY_BUCKETS,
    ['chain', 'upstream', 'method'],
  ),
  faults: counter('Number of upstream faults, by kind', ['chain', 'upstream', 'kind']),
  upstreamHead: gauge('Newest block number reported by the upstream', ['chain', 'upstream']),
  inFlight: gauge('Number of JSON-RPC requests sent to the upstream and waiting for a response', [
    'chain',
    'upstream',
  ]),
  circuitState: gauge('Circuit breaker state of the upstream: 0 closed, 1 half-open, 2 open, 3 disabled', [
    'chain',
    'upstream',
  ]),
  pauseSeconds: gauge(
    'Seconds until the upstream receives calls again, because it throttled them or its budget is used up (then a minute or more), otherwise 0',
    ['chain', 'upstream'],
  ),
  rateAllowed: gauge(
    'Maximum calls per second to the upstream from all processes of one `chainstead start` (RPC_RATE)',
    ['chain', 'upstream'],
  ),
  rateLearned: gauge(
    'Calls per second of this process that refusals of the upstream taught. 0 if none was learned',
    ['chain', 'upstream'],
  ),
  turnsWaiting: gauge(
    'Number of calls in this process waiting because of RPC_RATE, RPC_CONCURRENCY or a learned rate',
    ['chain', 'upstream'],
  ),
});

export function createRequestCounter(
  metrics: PoolMetrics,
  labels: { readonly chain: string; readonly upstream: string },
): (method: string, outcome: string) => void {
  const tallies = new Map<string, Map<string, Tally>>();
  return (method, outcome) => {
    const label = methodLabel(method);
    const byMethod = getOrCompute(tallies, outcome, () => new Map<string, Tally>());
    getOrCompute(byMethod, label, () => metrics.requests.tally({ ...labels, method: label, outcome })).value++;
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
  ...[
    'debug_traceBlockByNumber',
    'debug_traceBlockByHash',
    'debug_traceTransaction',
    'trace_block',
    'net_version',
  ],
]);

export function methodLabel(method: string): string {
  return KNOWN.has(method) ? method : 'other';
}

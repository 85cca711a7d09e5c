import { counter, defineMetrics, histogram, type Registry } from '@chainstead/core';
import { countCalls, LATENCY_BOUNDS_MS, type UpstreamCallCounts } from '@chainstead/rpc/pool';

export type FullnodeMetrics = ReturnType<typeof createFullnodeMetrics>;

export const createFullnodeMetrics = defineMetrics('chainstead_aptos', {
  requests: counter('Number of calls to Aptos fullnodes, by outcome: ok or the fault kind', [
    'chain',
    'fullnode',
    'outcome',
  ]),
  requestDurationSeconds: histogram(
    'Time from sending a request to an Aptos fullnode to reading the whole response',
    LATENCY_BOUNDS_MS.map((ms) => ms / 1_000),
    ['chain', 'fullnode'],
  ),
  bytes: counter('Number of response bytes received from Aptos fullnodes, after decompression', [
    'chain',
    'fullnode',
  ]),
});

export function countFullnodeCalls(registry: Registry): Promise<UpstreamCallCounts[]> {
  return countCalls(createFullnodeMetrics(registry), 'fullnode');
}

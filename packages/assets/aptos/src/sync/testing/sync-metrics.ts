import { counter, createMetricsRegistry, defineMetrics, gauge, histogram } from '@chainstead/core';
import type { AptosSyncMetrics } from '../options.ts';

const createSyncMetrics = defineMetrics('test', {
  headBlock: gauge('head', ['chain']),
  checkpointBlock: gauge('checkpoint', ['chain']),
  blocks: counter('blocks', ['chain', 'kind']),
  rows: counter('rows', ['chain', 'dataset']),
  commitSeconds: histogram('commit', [1], ['chain', 'kind']),
  coveredBlocks: gauge('covered', ['chain', 'dataset', 'proof']),
  gapBlocks: gauge('gap', ['chain', 'dataset']),
  stalled: gauge('stalled', ['chain']),
  leader: gauge('leader', ['chain']),
  standby: gauge('standby', ['chain']),
});

/** Creates the sync engine's metrics in a separate registry. */
export function createSyncMetricsForTest(): AptosSyncMetrics {
  return createSyncMetrics(createMetricsRegistry());
}

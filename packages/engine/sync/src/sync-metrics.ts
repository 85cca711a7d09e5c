import { counter, defineMetrics, type Gauge, gauge, histogram } from '@chainstead/core';

export type SyncMetrics = ReturnType<typeof createSyncMetrics>;

export const createSyncMetrics = defineMetrics('chainstead_sync', {
  headBlock: gauge('Newest block number that an upstream can serve', ['chain']),
  checkpointBlock: gauge('Newest block number written by the follower', ['chain']),
  blocks: counter('Number of blocks committed, by kind of work', ['chain', 'kind']),
  logs: counter('Number of event logs read from upstreams and committed, by kind of work', ['chain', 'kind']),
  rows: counter('Number of rows written, by dataset', ['chain', 'dataset']),
  droppedRows: counter('Approximate number of rows of old blocks deleted by retention, by dataset', [
    'chain',
    'dataset',
  ]),
  reorgs: counter('Number of reorgs rolled back', ['chain']),
  reorgDepthBlocks: histogram(
    'Number of blocks rolled back by one reorg',
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
    ['chain'],
  ),
  commitSeconds: histogram(
    'Time from starting to decode a batch to its commit',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ['chain', 'kind'],
  ),
  coveredBlocks: gauge('Number of indexed blocks, by dataset and proof level', ['chain', 'dataset', 'proof']),
  gapBlocks: gauge(
    'Number of blocks not indexed between the first block to index and the checkpoint, by dataset',
    ['chain', 'dataset'],
  ),
  datasetFailedBlocks: gauge(
    'Number of blocks missing from a dataset because they could not be decoded. 0 if all were decoded',
    ['chain', 'dataset'],
  ),
  keptFromBlock: gauge(
    'Lowest block number whose ERC-20 transfers are retained (RETENTION_BLOCKS, RETENTION_FROM_DATE). 0 if all are retained',
    ['chain'],
  ),
  projectionBuiltRatio: gauge(
    'Ratio of indexed blocks that the aggregate includes. Below 1 while the aggregate is built from stored rows',
    ['chain', 'state'],
  ),
  stalled: gauge('1 if the chain makes no progress although work is pending, otherwise 0', ['chain']),
  headKnown: gauge('1 if a node returned its head within seconds, otherwise 0', ['chain']),
  leader: gauge('1 if this process is the ingest leader of the chain, otherwise 0', ['chain']),
  standby: gauge('1 if this process is on standby for the chain while another one leads, otherwise 0', ['chain']),
  backfillBlocksPerSecond: gauge(
    'Number of missing blocks per second filled by all processes, over the last minute. 0 if none are',
    ['chain'],
  ),
  backfillSecondsLeft: gauge(
    'Seconds until no block is missing, at the current rate. Absent if no missing block is filled',
    ['chain'],
  ),
  proverBlocksPerSecond: gauge('Number of blocks per second read by the background prover. 0 if it has no work', [
    'chain',
  ]),
  proverSecondsLeft: gauge(
    'Seconds until all indexed blocks are proven, at the current rate. Absent if the prover has no work',
    ['chain'],
  ),
  proverRepairedBlocks: counter(
    'Number of blocks whose rows the prover repaired, by the upstream that returned wrong data',
    ['chain', 'upstream'],
  ),
});

/** The first reorg is visible if counters start at 0. */
export function beginChainMetrics(metrics: SyncMetrics, chain: string): void {
  for (const gauge of [metrics.leader, metrics.standby, metrics.stalled]) gauge.set({ chain }, 0);
  metrics.reorgs.inc({ chain }, 0);
  metrics.reorgDepthBlocks.zero({ chain });
}

/** For standbys: another process reports these metrics now. */
export async function forgetLedChain(metrics: SyncMetrics, chain: string): Promise<void> {
  metrics.stalled.set({ chain }, 0);
  const { headBlock, checkpointBlock, keptFromBlock, proverBlocksPerSecond, proverSecondsLeft } = metrics;
  const { backfillBlocksPerSecond, backfillSecondsLeft } = metrics;
  const { coveredBlocks, gapBlocks, datasetFailedBlocks, projectionBuiltRatio } = metrics;
  for (const gauge of [backfillBlocksPerSecond, backfillSecondsLeft]) gauge.remove({ chain });
  for (const gauge of [headBlock, checkpointBlock, keptFromBlock, proverBlocksPerSecond, proverSecondsLeft])
    gauge.remove({ chain });
  await Promise.all([
    forgetChain(coveredBlocks, chain),
    forgetChain(gapBlocks, chain),
    forgetChain(datasetFailedBlocks, chain),
    forgetChain(projectionBuiltRatio, chain),
  ]);
}

async function forgetChain<L extends string>(gauge: Gauge<L>, chain: string): Promise<void> {
  const { values } = await gauge.get();
  for (const { labels } of values) if (Reflect.get(labels, 'chain') === chain) gauge.remove(labels);
}

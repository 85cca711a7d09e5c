import { Counter, Gauge, Histogram, type Registry } from '@chainstead/core';

export type SyncMetrics = ReturnType<typeof createSyncMetrics>;

/** The first reorg is visible if counters start at 0. */
export function beginChainMetrics(metrics: SyncMetrics, chain: string): void {
  for (const gauge of [metrics.leader, metrics.standby, metrics.stalled]) gauge.set({ chain }, 0);
  metrics.reorgs.inc({ chain }, 0);
  metrics.reorgDepth.zero({ chain });
}

/** For standbys: another process reports these metrics now. */
export async function forgetLedChain(metrics: SyncMetrics, chain: string): Promise<void> {
  metrics.stalled.set({ chain }, 0);
  const { head, checkpoint, retainedFrom, proverRate, proverSecondsLeft } = metrics;
  const { coveredBlocks, gapBlocks, datasetFailedBlocks, derivedBuilt } = metrics;
  for (const gauge of [head, checkpoint, retainedFrom, proverRate, proverSecondsLeft]) gauge.remove({ chain });
  await Promise.all([
    forgetChain(coveredBlocks, chain),
    forgetChain(gapBlocks, chain),
    forgetChain(datasetFailedBlocks, chain),
    forgetChain(derivedBuilt, chain),
  ]);
}

async function forgetChain<L extends string>(gauge: Gauge<L>, chain: string): Promise<void> {
  const { values } = await gauge.get();
  for (const { labels } of values) if (Reflect.get(labels, 'chain') === chain) gauge.remove(labels);
}
export function createSyncMetrics(registry: Registry) {
  const registers = [registry];
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> =>
    new Gauge({ name: `chainstead_sync_${name}`, help, labelNames: [...labelNames], registers });
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
    new Counter({ name: `chainstead_sync_${name}`, help, labelNames: [...labelNames], registers });
  return {
    head: gauge('head_block', 'Newest block number that an upstream can serve', ['chain']),
    checkpoint: gauge('checkpoint_block', 'Newest block number written by the follower', ['chain']),
    blocks: counter('blocks_total', 'Number of blocks committed, by kind of work', ['chain', 'kind']),
    logs: counter('logs_total', 'Number of event logs read from upstreams and committed, by kind of work', [
      'chain',
      'kind',
    ]),
    rows: counter('rows_total', 'Number of rows written, by dataset', ['chain', 'dataset']),
    droppedRows: counter(
      'dropped_rows_total',
      'Approximate number of rows of old blocks deleted by retention, by dataset',
      ['chain', 'dataset'],
    ),
    reorgs: counter('reorgs_total', 'Number of reorgs rolled back', ['chain']),
    ...createSyncHistograms(registers),
    coveredBlocks: gauge('covered_blocks', 'Number of indexed blocks, by dataset and proof level', [
      'chain',
      'dataset',
      'proof',
    ]),
    gapBlocks: gauge(
      'gap_blocks',
      'Number of blocks not indexed between the first block to index and the checkpoint, by dataset',
      ['chain', 'dataset'],
    ),
    datasetFailedBlocks: gauge(
      'dataset_failed_blocks',
      'Number of blocks missing from a dataset because they could not be decoded. 0 if all were decoded',
      ['chain', 'dataset'],
    ),
    retainedFrom: gauge(
      'kept_from_block',
      'Lowest block number whose ERC-20 transfers are retained (RETENTION_BLOCKS, RETENTION_FROM_DATE). 0 if all are retained',
      ['chain'],
    ),
    derivedBuilt: gauge(
      'projection_built_ratio',
      'Ratio of indexed blocks that the aggregate includes. Below 1 while the aggregate is built from stored rows',
      ['chain', 'state'],
    ),
    stalled: gauge('stalled', '1 if the chain makes no progress although work is pending, otherwise 0', ['chain']),
    headKnown: gauge('head_known', '1 if a node returned its head within seconds, otherwise 0', ['chain']),
    leader: gauge('leader', '1 if this process is the ingest leader of the chain, otherwise 0', ['chain']),
    standby: gauge('standby', '1 if this process is on standby for the chain while another one leads, otherwise 0', [
      'chain',
    ]),
    proverRate: gauge(
      'prover_blocks_per_second',
      'Number of blocks per second read by the background prover. 0 if it has no work',
      ['chain'],
    ),
    proverSecondsLeft: gauge(
      'prover_seconds_left',
      'Seconds until all indexed blocks are proven, at the current rate. Absent if the prover has no work',
      ['chain'],
    ),
    proverRepairs: counter(
      'prover_repaired_blocks_total',
      'Number of blocks whose rows the prover repaired, by the upstream that returned wrong data',
      ['chain', 'upstream'],
    ),
  };
}

function createSyncHistograms(registers: Registry[]) {
  return {
    reorgDepth: new Histogram({
      name: 'chainstead_sync_reorg_depth_blocks',
      help: 'Number of blocks rolled back by one reorg',
      labelNames: ['chain'],
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    commitSeconds: new Histogram({
      name: 'chainstead_sync_commit_seconds',
      help: 'Time from starting to decode a batch to its commit',
      labelNames: ['chain', 'kind'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
  };
}

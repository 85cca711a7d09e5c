import { Counter, Gauge, Histogram, type Registry } from '@chainstead/core';

/** Everything that the sync engine counts; documented in docs/metrics.md. */
export interface SyncMetrics {
  readonly head: Gauge<'chain'>;
  readonly checkpoint: Gauge<'chain'>;
  readonly blocks: Counter<'chain' | 'kind'>;
  readonly logs: Counter<'chain' | 'kind'>;
  readonly rows: Counter<'chain' | 'dataset'>;
  readonly droppedRows: Counter<'chain' | 'dataset'>;
  readonly reorgs: Counter<'chain'>;
  readonly reorgDepth: Histogram<'chain'>;
  readonly commitSeconds: Histogram<'chain' | 'kind'>;
  readonly coveredBlocks: Gauge<'chain' | 'dataset' | 'proof'>;
  readonly gapBlocks: Gauge<'chain' | 'dataset'>;
  readonly keptFrom: Gauge<'chain'>;
  readonly derivedBuilt: Gauge<'chain' | 'state'>;
  readonly stalled: Gauge<'chain'>;
  readonly leader: Gauge<'chain'>;
  readonly standby: Gauge<'chain'>;
  readonly proverRate: Gauge<'chain'>;
  readonly proverSecondsLeft: Gauge<'chain'>;
  readonly proverRepairs: Counter<'chain' | 'upstream'>;
}

/** What is told of a chain before anything happened: what counts begins at 0, so that the first reorganisation is seen as one. */
export function beginChainMetrics(metrics: SyncMetrics, chain: string): void {
  for (const gauge of [metrics.leader, metrics.standby, metrics.stalled]) gauge.set({ chain }, 0);
  metrics.reorgs.inc({ chain }, 0);
  metrics.reorgDepth.zero({ chain });
}

/** Takes back what only the leader of a chain tells, for whoever stands by: another process tells it now. */
export async function forgetLedChain(metrics: SyncMetrics, chain: string): Promise<void> {
  metrics.stalled.set({ chain }, 0);
  await Promise.all([
    forgetChain(metrics.head, chain),
    forgetChain(metrics.checkpoint, chain),
    forgetChain(metrics.coveredBlocks, chain),
    forgetChain(metrics.gapBlocks, chain),
    forgetChain(metrics.keptFrom, chain),
    forgetChain(metrics.derivedBuilt, chain),
    forgetChain(metrics.proverRate, chain),
    forgetChain(metrics.proverSecondsLeft, chain),
  ]);
}

/** Which datasets, levels and states there are of the chain, the gauge itself knows. */
async function forgetChain<L extends string>(gauge: Gauge<L>, chain: string): Promise<void> {
  const { values } = await gauge.get();
  for (const { labels } of values) if (Object.entries(labels).some(isOfChain)) gauge.remove(labels);

  function isOfChain([name, value]: [string, unknown]): boolean {
    return name === 'chain' && value === chain;
  }
}

export function createSyncMetrics(registry: Registry): SyncMetrics {
  const registers = [registry];
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> =>
    new Gauge({ name: `chainstead_sync_${name}`, help, labelNames: [...labelNames], registers });
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
    new Counter({ name: `chainstead_sync_${name}`, help, labelNames: [...labelNames], registers });
  return {
    head: gauge('head_block', 'Newest block that an upstream can serve', ['chain']),
    checkpoint: gauge('checkpoint_block', 'Last block written by the follower', ['chain']),
    blocks: counter('blocks_total', 'Blocks committed, by kind of work', ['chain', 'kind']),
    logs: counter('logs_total', 'Logs read from upstreams and committed, by kind of work', ['chain', 'kind']),
    rows: counter('rows_total', 'Rows written, by dataset', ['chain', 'dataset']),
    droppedRows: counter('dropped_rows_total', 'Rows of old blocks that were dropped, about, by dataset', [
      'chain',
      'dataset',
    ]),
    reorgs: counter('reorgs_total', 'Reorganisations rolled back', ['chain']),
    reorgDepth: new Histogram({
      name: 'chainstead_sync_reorg_depth_blocks',
      help: 'Blocks rolled back by a reorganisation',
      labelNames: ['chain'],
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    commitSeconds: new Histogram({
      name: 'chainstead_sync_commit_seconds',
      help: 'Time of one commit, decoding included',
      labelNames: ['chain', 'kind'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    coveredBlocks: gauge('covered_blocks', 'Blocks covered, by dataset and proof level', ['chain', 'dataset', 'proof']),
    gapBlocks: gauge('gap_blocks', 'Blocks between the start of history and the checkpoint that are not covered', [
      'chain',
      'dataset',
    ]),
    keptFrom: gauge(
      'kept_from_block',
      'Lowest block that keeps its ERC-20 transfers (KEEP_BLOCKS, KEEP_SINCE); 0: all do',
      ['chain'],
    ),
    derivedBuilt: gauge(
      'derived_built_ratio',
      'Part of the blocks whose rows a derived state counts: below 1 while it is built from the rows that are there',
      ['chain', 'state'],
    ),
    stalled: gauge('stalled', '1 while a chain makes no progress although there is something to do', ['chain']),
    leader: gauge('leader', '1 while this process leads the ingestion of the chain', ['chain']),
    standby: gauge('standby', '1 while this process stands by for the chain, which another one leads', ['chain']),
    proverRate: gauge('prover_blocks_per_second', 'Blocks a second that the background prover reads; 0 without work', [
      'chain',
    ]),
    proverSecondsLeft: gauge(
      'prover_seconds_left',
      'Seconds until all that is covered is proven, at the rate of the moment; absent without work',
      ['chain'],
    ),
    proverRepairs: counter(
      'prover_repaired_blocks_total',
      'Blocks whose rows the prover repaired, by the upstream that had lied',
      ['chain', 'upstream'],
    ),
  };
}

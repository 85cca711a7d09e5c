import { Counter, createMetricsRegistry, Gauge, Histogram } from '@chainstead/core';
import type { AptosSyncMetrics } from '../options.ts';

/** Creates the sync engine's metrics in a separate registry. */
export function createSyncMetricsForTest(): AptosSyncMetrics {
  const registers = [createMetricsRegistry()];
  const gauge = <L extends string>(name: string, labelNames: readonly L[]): Gauge<L> =>
    new Gauge({ name, help: name, labelNames: [...labelNames], registers });
  const counter = <L extends string>(name: string, labelNames: readonly L[]): Counter<L> =>
    new Counter({ name, help: name, labelNames: [...labelNames], registers });
  return {
    head: gauge('head', ['chain']),
    checkpoint: gauge('checkpoint', ['chain']),
    blocks: counter('blocks', ['chain', 'kind']),
    rows: counter('rows', ['chain', 'dataset']),
    commitSeconds: new Histogram({ name: 'commit', help: 'commit', labelNames: ['chain', 'kind'], registers }),
    coveredBlocks: gauge('covered', ['chain', 'dataset', 'proof']),
    gapBlocks: gauge('gap', ['chain', 'dataset']),
    stalled: gauge('stalled', ['chain']),
    leader: gauge('leader', ['chain']),
    standby: gauge('standby', ['chain']),
  };
}

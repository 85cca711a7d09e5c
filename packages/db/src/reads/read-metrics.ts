import { Counter, ReadGauge, type Registry } from '@chainstead/core';

/** What became of a read that was sent to a server. */
export type ReadOutcome = 'answered' | 'behind' | 'conflict' | 'away' | 'failed';

/** The Prometheus metrics of reads that standbys take part in. */
export interface ReadMetrics {
  readonly reads: Counter<'host' | 'outcome'>;
  readonly lagSeconds: ReadGauge<'host'>;
  readonly lagBytes: ReadGauge<'host'>;
  readonly used: ReadGauge<'host'>;
}

export function createReadMetrics(registry: Registry): ReadMetrics {
  const registers = [registry];
  return {
    reads: new Counter({
      name: 'chainstead_database_reads_total',
      help: 'Reads of data routes by the server that they were sent to: answered, or done elsewhere since it was behind what the client had seen, cancelled them while it replayed (conflict), was away, or failed',
      labelNames: ['host', 'outcome'],
      registers,
    }),
    lagSeconds: new ReadGauge({
      name: 'chainstead_database_standby_lag_seconds',
      help: 'How long ago the primary wrote the oldest of what the standby has not replayed; of a standby that is away by its last word',
      labelNames: ['host'],
      registers,
    }),
    lagBytes: new ReadGauge({
      name: 'chainstead_database_standby_lag_bytes',
      help: 'How much of its log the primary has written and the standby has not replayed',
      labelNames: ['host'],
      registers,
    }),
    used: new ReadGauge({
      name: 'chainstead_database_standby_used',
      help: '1 while reads go to the standby; 0 while it is away or lags too much',
      labelNames: ['host'],
      registers,
    }),
  };
}

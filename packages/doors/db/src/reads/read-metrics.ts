import { Counter, ReadGauge, type Registry } from '@chainstead/core';

export type ReadOutcome = 'answered' | 'behind' | 'conflict' | 'away' | 'failed';

export type ReadMetrics = ReturnType<typeof createReadMetrics>;
export function createReadMetrics(registry: Registry) {
  const registers = [registry];
  return {
    reads: new Counter<'host' | 'outcome'>({
      name: 'chainstead_database_reads_total',
      help: 'Number of data route reads by database server and outcome. answered: this server returned the rows. Otherwise the read moved to another server. behind: this one lacked data that the client had already seen. conflict: it canceled the read during replay. away: it was unavailable. failed: another error',
      labelNames: ['host', 'outcome'],
      registers,
    }),
    lagSeconds: new ReadGauge<'host'>({
      name: 'chainstead_database_standby_lag_seconds',
      help: 'Age in seconds of the oldest WAL that the standby has not replayed. If the standby is unavailable, based on its last report',
      labelNames: ['host'],
      registers,
    }),
    lagBytes: new ReadGauge<'host'>({
      name: 'chainstead_database_standby_lag_bytes',
      help: 'Number of WAL bytes written by the primary and not yet replayed by the standby',
      labelNames: ['host'],
      registers,
    }),
    used: new ReadGauge<'host'>({
      name: 'chainstead_database_standby_used',
      help: '1 if the standby serves reads, 0 if it is unavailable or lags too much',
      labelNames: ['host'],
      registers,
    }),
  };
}

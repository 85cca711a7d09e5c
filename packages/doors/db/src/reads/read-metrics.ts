import { counter, defineMetrics, gauge } from '@chainstead/core';

export type ReadOutcome = 'answered' | 'behind' | 'conflict' | 'away' | 'failed';

export type ReadMetrics = ReturnType<typeof createReadMetrics>;

export const createReadMetrics = defineMetrics('chainstead_database', {
  reads: counter(
    'Number of data route reads by database server and outcome. answered: this server returned the rows. Otherwise the read moved to another server. behind: this one lacked data that the client had already seen. conflict: it canceled the read during replay. away: it was unavailable. failed: another error',
    ['host', 'outcome'],
  ),
  standbyLagSeconds: gauge(
    'Age in seconds of the oldest WAL that the standby has not replayed. If the standby is unavailable, based on its last report',
    ['host'],
  ),
  standbyLagBytes: gauge('Number of WAL bytes written by the primary and not yet replayed by the standby', [
    'host',
  ]),
  standbyUsed: gauge('1 if the standby serves reads, 0 if it is unavailable or lags too much', ['host']),
});

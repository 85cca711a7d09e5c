import type { Dashboard } from './dashboard.ts';

/** Postgres as the program meets it, the disk, and the processes. */
export const storage: Dashboard = {
  uid: 'chainstead-storage',
  title: 'Chainstead: Postgres and processes',
  rows: [
    {
      title: 'Connections to Postgres',
      panels: [
        {
          kind: 'time',
          title: 'Connections in use',
          about: 'Of each pool, and what it may hold. At its size all day: raise DATABASE_POOL_SIZE.',
          unit: 'none',
          queries: [
            [
              'sum by (instance, role, pool) (chainstead_database_connections{state="in_use"})',
              '{{role}} {{pool}} {{instance}}',
            ],
            ['max by (role, pool) (chainstead_database_connections_max)', '{{role}} {{pool}} at most'],
          ],
        },
        {
          kind: 'time',
          title: 'Waiting for a connection',
          about: 'Queries and transactions.',
          unit: 'none',
          queries: [['sum by (instance, role, pool) (chainstead_database_waiting)', '{{role}} {{pool}} {{instance}}']],
        },
        {
          kind: 'time',
          title: 'Wait for a connection, p95',
          about: 'Milliseconds are a new connection, more a pool that is too small or held up.',
          unit: 's',
          queries: [
            [
              'histogram_quantile(0.95, sum by (le, role, pool) (rate(chainstead_database_wait_seconds_bucket[5m])))',
              '{{role}} {{pool}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Database there',
          about: '0 while it takes nothing of the role: away, full, or read-only.',
          unit: 'none',
          queries: [['min by (role) (chainstead_database_up)', '{{role}}']],
        },
        {
          kind: 'time',
          title: 'Idle connections',
          about: 'They are closed after a while.',
          unit: 'none',
          queries: [['sum by (role, pool) (chainstead_database_connections{state="idle"})', '{{role}} {{pool}}']],
        },
      ],
    },
    {
      title: 'Standbys that reads go to (DATABASE_READ_URL)',
      panels: [
        {
          kind: 'time',
          title: 'Reads a second',
          about: 'Of data routes, by server and outcome. All but `answered` were done elsewhere.',
          unit: 'ops',
          queries: [['sum by (host, outcome) (rate(chainstead_database_reads_total[5m]))', '{{host}} {{outcome}}']],
        },
        {
          kind: 'time',
          title: 'Lag',
          about: 'How long ago the primary wrote what the standby has not replayed.',
          unit: 's',
          queries: [['max by (host) (chainstead_database_standby_lag_seconds)', '{{host}}']],
        },
        {
          kind: 'time',
          title: 'Log that is not replayed',
          about: 'A standby that stays behind is too slow, or its replay waits for long statements.',
          unit: 'bytes',
          queries: [['max by (host) (chainstead_database_standby_lag_bytes)', '{{host}}']],
        },
        {
          kind: 'stat',
          title: 'Standbys in use',
          about: '0 while one is away or lags too much: the primary does its reads.',
          unit: 'none',
          queries: [['min by (host) (chainstead_database_standby_used)', '{{host}}']],
        },
      ],
    },
    {
      title: 'Disk',
      panels: [
        {
          kind: 'time',
          title: 'Database',
          about: 'Tables and indexes, without the log of Postgres (max_wal_size).',
          unit: 'bytes',
          queries: [['max(chainstead_database_size_bytes)', 'database']],
        },
        {
          kind: 'time',
          title: 'Largest tables',
          about: 'With indexes and partitions.',
          unit: 'bytes',
          queries: [['topk(10, max by (table) (chainstead_table_size_bytes))', '{{table}}']],
        },
        {
          kind: 'time',
          title: 'Partitions',
          about: 'Of tables that have some; fewer once old blocks are dropped.',
          unit: 'none',
          queries: [['max by (table) (chainstead_table_partitions)', '{{table}}']],
        },
        {
          kind: 'time',
          title: 'Growth a day',
          about: 'At the rate of the last six hours.',
          unit: 'bytes',
          queries: [['max(deriv(chainstead_database_size_bytes[6h])) * 86400', 'database']],
        },
        {
          kind: 'time',
          title: 'Disk of the embedded Postgres',
          about: 'Free, and its size. Of a Postgres of your own, watch the disk there.',
          unit: 'bytes',
          queries: [
            ['min by (instance) (chainstead_disk_free_bytes)', 'free {{instance}}'],
            ['max by (instance) (chainstead_disk_size_bytes)', 'size {{instance}}'],
          ],
        },
        {
          kind: 'time',
          title: 'Rows dropped an hour',
          about: 'Of blocks below what is kept, about.',
          unit: 'none',
          queries: [
            ['sum by (chain, dataset) (increase(chainstead_sync_dropped_rows_total[1h]))', '{{chain}} {{dataset}}'],
          ],
        },
      ],
    },
    {
      title: 'Processes',
      panels: [
        {
          kind: 'time',
          title: 'Processes of each role',
          about: 'Under a `chainstead start` with several.',
          unit: 'none',
          queries: [['sum by (instance, child_role) (chainstead_role_processes)', '{{child_role}} {{instance}}']],
        },
        {
          kind: 'time',
          title: 'Started again, an hour',
          about: 'After they ended unexpectedly.',
          unit: 'none',
          queries: [
            [
              'sum by (instance, child_role) (increase(chainstead_role_restarts_total[1h]))',
              '{{child_role}} {{instance}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Memory',
          about: 'Resident.',
          unit: 'bytes',
          queries: [['sum by (instance, role) (process_resident_memory_bytes)', '{{role}} {{instance}}']],
        },
        {
          kind: 'time',
          title: 'Objects in memory',
          about: 'The heap of JavaScript.',
          unit: 'bytes',
          queries: [['sum by (instance, role) (nodejs_heap_size_used_bytes)', '{{role}} {{instance}}']],
        },
        {
          kind: 'time',
          title: 'Processor time',
          about: 'Cores that are busy.',
          unit: 'none',
          queries: [['sum by (instance, role) (rate(process_cpu_seconds_total[5m]))', '{{role}} {{instance}}']],
        },
        {
          kind: 'time',
          title: 'Event loop lag, p99',
          about: 'How long whatever is due waits for the thread.',
          unit: 's',
          queries: [['max by (instance, role) (nodejs_eventloop_lag_p99_seconds)', '{{role}} {{instance}}']],
        },
        {
          kind: 'time',
          title: 'Garbage collection',
          about: 'Part of the time.',
          unit: 'percentunit',
          queries: [['sum by (instance, role) (rate(nodejs_gc_duration_seconds_sum[5m]))', '{{role}} {{instance}}']],
        },
        {
          kind: 'time',
          title: 'Open files and connections',
          about: 'The operating system sets a limit: ulimit -n.',
          unit: 'none',
          queries: [['sum by (instance, role) (process_open_fds)', '{{role}} {{instance}}']],
        },
      ],
    },
  ],
};

import type { Dashboard } from './dashboard.ts';

/** What an operator looks at first. */
export const overview: Dashboard = {
  uid: 'chainstead',
  title: 'Chainstead',
  rows: [
    {
      title: 'Is it well?',
      panels: [
        {
          kind: 'stat',
          title: 'Blocks behind the head',
          about: 'Between what an upstream can serve and what is indexed. A few while blocks come; growing is bad.',
          unit: 'none',
          queries: [
            [
              'max by (chain) (chainstead_sync_head_block) - max by (chain) (chainstead_sync_checkpoint_block)',
              '{{chain}}',
            ],
          ],
        },
        {
          kind: 'stat',
          title: 'Stalled chains',
          about: '1 while a chain makes no progress. `chainstead status` says why.',
          unit: 'none',
          queries: [
            [
              'max by (chain) (chainstead_sync_stalled unless on (chain, instance, process) (chainstead_sync_standby == 1))',
              '{{chain}}',
            ],
          ],
        },
        {
          kind: 'stat',
          title: 'Blocks missing',
          about: 'Of the dataset that lacks most: history that is still read, and gaps. Falls by itself.',
          unit: 'none',
          queries: [
            [
              'max by (chain) (chainstead_sync_gap_blocks and on (chain, instance, process) (chainstead_sync_leader == 1))',
              '{{chain}}',
            ],
          ],
        },
        {
          kind: 'stat',
          title: 'Upstreams in use',
          about:
            'Of each chain, as its ingest process sees them: those that are left out or whose circuit is open do not count.',
          unit: 'none',
          queries: [
            [
              'max by (chain) (sum by (chain, instance) (chainstead_rpc_circuit_state{role="ingest"} < bool 2))',
              '{{chain}}',
            ],
          ],
        },
        {
          kind: 'stat',
          title: 'Database there',
          about: '0 while it takes nothing of a role.',
          unit: 'none',
          queries: [['min by (role) (chainstead_database_up)', '{{role}}']],
        },
        {
          kind: 'stat',
          title: 'Oldest webhook that waits',
          about: 'Of streams that are active: it has never arrived.',
          unit: 's',
          queries: [['max(chainstead_webhook_oldest_pending_seconds{status="active"})', 'active']],
        },
        {
          kind: 'stat',
          title: 'Server errors of the API',
          about: 'Part of the answers with 5xx, probes and operations that are not served left out.',
          unit: 'percentunit',
          queries: [
            [
              'sum(rate(chainstead_http_requests_total{role="api",status=~"5..",status!="501",route!~"/ready|/synced"}[5m])) / sum(rate(chainstead_http_requests_total{role="api",route!~"/ready|/synced"}[5m])) or vector(0)',
              '5xx',
            ],
          ],
        },
        {
          kind: 'stat',
          title: 'Processes started again in an hour',
          about: 'A role ended unexpectedly. Its last log lines say why.',
          unit: 'none',
          queries: [['sum by (child_role) (increase(chainstead_role_restarts_total[1h]))', '{{child_role}}']],
        },
      ],
    },
    {
      title: 'Work',
      panels: [
        {
          kind: 'time',
          title: 'Blocks a second',
          about: 'Committed, by kind of work: follow is the head, backfill the past.',
          unit: 'ops',
          queries: [['sum by (chain, kind) (rate(chainstead_sync_blocks_total[5m]))', '{{chain}} {{kind}}']],
        },
        {
          kind: 'time',
          title: 'Rows a second',
          about: 'Written, by dataset.',
          unit: 'ops',
          queries: [['sum by (chain, dataset) (rate(chainstead_sync_rows_total[5m]))', '{{chain}} {{dataset}}']],
        },
        {
          kind: 'time',
          title: 'API requests a second',
          about: 'Of all API processes, by status.',
          unit: 'reqps',
          queries: [['sum by (status) (rate(chainstead_http_requests_total{role="api"}[5m]))', '{{status}}']],
        },
        {
          kind: 'time',
          title: 'API latency, p95',
          about: 'Over all routes. Routes that wait for an index take up to INDEX_WAIT_MS.',
          unit: 's',
          queries: [
            [
              'histogram_quantile(0.95, sum by (le) (rate(chainstead_http_request_duration_seconds_bucket{role="api"}[5m])))',
              'p95',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Webhooks a second',
          about: 'By what came of them.',
          unit: 'ops',
          queries: [['sum by (result) (rate(chainstead_webhooks_total[5m]))', '{{result}}']],
        },
        {
          kind: 'time',
          title: 'Jobs waiting',
          about: 'By queue. One that only grows has no worker, or one that fails.',
          unit: 'none',
          queries: [['max by (queue) (chainstead_jobs_depth{state="waiting"})', '{{queue}}']],
        },
        {
          kind: 'time',
          title: 'Memory of the processes',
          about: 'Resident.',
          unit: 'bytes',
          queries: [['sum by (instance, role) (process_resident_memory_bytes)', '{{role}} {{instance}}']],
        },
        {
          kind: 'time',
          title: 'Processor time of the processes',
          about: 'Cores that are busy. A process has one thread of its own: near 1 it is full.',
          unit: 'none',
          queries: [['sum by (instance, role) (rate(process_cpu_seconds_total[5m]))', '{{role}} {{instance}}']],
        },
      ],
    },
  ],
};

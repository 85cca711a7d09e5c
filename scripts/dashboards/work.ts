import type { Dashboard } from './dashboard.ts';

/** Streams with their webhooks, and the queues. */
export const work: Dashboard = {
  uid: 'chainstead-work',
  title: 'Chainstead: streams, webhooks and jobs',
  rows: [
    {
      title: 'Streams and webhooks',
      panels: [
        {
          kind: 'time',
          title: 'Blocks behind the head',
          about: 'Blocks are matched in the transaction that writes them.',
          unit: 'none',
          queries: [
            [
              'max by (chain) (chainstead_sync_head_block) - max by (chain) (chainstead_sync_checkpoint_block)',
              '{{chain}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Matches a second',
          about: 'Blocks that matched a stream, once for each of the streams.',
          unit: 'ops',
          queries: [['sum by (chain) (rate(chainstead_stream_matches_total[5m]))', '{{chain}}']],
        },
        {
          kind: 'time',
          title: 'Webhooks that wait',
          about:
            'By the status of their stream: `error` and `paused` wait for you, `active` should come down by itself.',
          unit: 'none',
          queries: [['max by (status) (chainstead_webhooks_pending)', '{{status}}']],
        },
        {
          kind: 'time',
          title: 'Oldest webhook that waits',
          about: 'Since its match; it has never arrived.',
          unit: 's',
          queries: [['max by (status) (chainstead_webhook_oldest_pending_seconds)', '{{status}}']],
        },
        {
          kind: 'time',
          title: 'Webhooks a minute',
          about: 'By what came of them: retrying comes again, gave-up does not.',
          unit: 'none',
          queries: [['sum by (result) (rate(chainstead_webhooks_total[5m])) * 60', '{{result}}']],
        },
        {
          kind: 'time',
          title: 'Delay',
          about: 'From the match to the first 2xx.',
          unit: 's',
          queries: [
            ['histogram_quantile(0.5, sum by (le) (rate(chainstead_webhook_delay_seconds_bucket[5m])))', 'p50'],
            ['histogram_quantile(0.95, sum by (le) (rate(chainstead_webhook_delay_seconds_bucket[5m])))', 'p95'],
          ],
        },
        {
          kind: 'time',
          title: 'Time until receivers answer, p95',
          about: 'Or until they are given up on.',
          unit: 's',
          queries: [
            ['histogram_quantile(0.95, sum by (le) (rate(chainstead_webhook_answer_seconds_bucket[5m])))', 'p95'],
          ],
        },
        {
          kind: 'time',
          title: 'Streams',
          about: 'By status.',
          unit: 'none',
          queries: [['max by (status) (chainstead_streams)', '{{status}}']],
        },
        {
          kind: 'time',
          title: 'Streams that changed by themselves, an hour',
          about: 'Into error, or terminated after a day of it.',
          unit: 'none',
          queries: [
            [
              'sum by (status, reason) (increase(chainstead_stream_status_changes_total[1h]))',
              '{{status}}: {{reason}}',
            ],
          ],
        },
        {
          kind: 'stat',
          title: 'Counts are old',
          about: '1 while the database does not answer for the curves of what waits.',
          unit: 'none',
          queries: [['max(chainstead_streams_stale)', 'streams']],
        },
      ],
    },
    {
      title: 'Jobs',
      panels: [
        {
          kind: 'time',
          title: 'Jobs in the queues',
          about: 'By state.',
          unit: 'none',
          queries: [['max by (queue, state) (chainstead_jobs_depth)', '{{queue}} {{state}}']],
        },
        {
          kind: 'time',
          title: 'Attempts a second',
          about: 'By outcome.',
          unit: 'ops',
          queries: [['sum by (outcome) (rate(chainstead_jobs_total[5m]))', '{{outcome}}']],
        },
        {
          kind: 'time',
          title: 'Failed for good and stalled, an hour',
          about: 'failed: no further attempt; stalled: the worker died.',
          unit: 'none',
          queries: [
            [
              'sum by (queue, outcome) (increase(chainstead_jobs_total{outcome=~"failed|stalled"}[1h]))',
              '{{queue}} {{outcome}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Time of an attempt, p95',
          about: 'By queue.',
          unit: 's',
          queries: [
            ['histogram_quantile(0.95, sum by (le, queue) (rate(chainstead_job_seconds_bucket[5m])))', '{{queue}}'],
          ],
        },
        {
          kind: 'time',
          title: 'Queues that can’t be read',
          about: '1 while the home of the queues (Redis, Postgres) does not answer.',
          unit: 'none',
          queries: [['max by (queue) (chainstead_jobs_depth_stale)', '{{queue}}']],
        },
        {
          kind: 'time',
          title: 'Work that was set aside, a day',
          about: 'It ended its process three times: `chainstead status` names it.',
          unit: 'none',
          queries: [['sum by (kind) (increase(chainstead_work_set_aside_total[1d]))', '{{kind}}']],
        },
      ],
    },
  ],
};

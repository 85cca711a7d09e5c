import type { Dashboard } from './dashboard.ts';

/** What clients ask for: pages, what pages make the program read, and JSON-RPC. */
export const api: Dashboard = {
  uid: 'chainstead-api',
  title: 'Chainstead: API and gateway',
  rows: [
    {
      title: 'API',
      panels: [
        {
          kind: 'time',
          title: 'Requests a second, by route',
          about: 'Of all API processes.',
          unit: 'reqps',
          queries: [['sum by (route) (rate(chainstead_http_requests_total{role="api"}[5m]))', '{{route}}']],
        },
        {
          kind: 'time',
          title: 'Refused and failed a second',
          about: 'Answers from 400 on, by route and status. 429: RATE_LIMIT; 503: the database, or no room.',
          unit: 'reqps',
          queries: [
            [
              'sum by (route, status) (rate(chainstead_http_requests_total{role="api",status=~"4..|5.."}[5m]))',
              '{{status}} {{route}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Latency',
          about: 'Over all routes.',
          unit: 's',
          queries: [
            [
              'histogram_quantile(0.5, sum by (le) (rate(chainstead_http_request_duration_seconds_bucket{role="api"}[5m])))',
              'p50',
            ],
            [
              'histogram_quantile(0.95, sum by (le) (rate(chainstead_http_request_duration_seconds_bucket{role="api"}[5m])))',
              'p95',
            ],
            [
              'histogram_quantile(0.99, sum by (le) (rate(chainstead_http_request_duration_seconds_bucket{role="api"}[5m])))',
              'p99',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Latency by route, p95',
          about: 'Routes that wait for an index take up to INDEX_WAIT_MS.',
          unit: 's',
          queries: [
            [
              'histogram_quantile(0.95, sum by (le, route) (rate(chainstead_http_request_duration_seconds_bucket{role="api"}[5m])))',
              '{{route}}',
            ],
          ],
        },
      ],
    },
    {
      title: 'What requests have read and counted',
      panels: [
        {
          kind: 'time',
          title: 'Questions to chain state a second',
          about: 'By kind and outcome. failed: no upstream answered; not-archived: none keeps the state of that block.',
          unit: 'ops',
          queries: [
            [
              'sum by (chain, kind, outcome) (rate(chainstead_state_questions_total[5m]))',
              '{{chain}} {{kind}} {{outcome}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Questions that wait',
          about: 'Somebody waits for those of state-<chain>.',
          unit: 'none',
          queries: [
            [
              'max by (queue, state) (chainstead_jobs_depth{queue=~"state-.*",state=~"waiting|active"})',
              '{{queue}} {{state}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Time of a question, p95',
          about: 'As the worker takes, its upstreams included.',
          unit: 's',
          queries: [
            [
              'histogram_quantile(0.95, sum by (le, queue) (rate(chainstead_job_seconds_bucket{queue=~"state-.*"}[5m])))',
              '{{queue}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Kept states that are being built',
          about:
            'Accounts and contracts that somebody asked about for the first time. One at a time of each chain: many wait.',
          unit: 'none',
          queries: [['sum by (chain, state) (chainstead_kept_building)', '{{chain}} {{state}}']],
        },
        {
          kind: 'time',
          title: 'Kept states built a minute',
          about: 'By outcome. waiting: `chainstead indexes` builds what is missing.',
          unit: 'none',
          queries: [
            [
              'sum by (chain, state, outcome) (rate(chainstead_kept_builds_total[5m])) * 60',
              '{{chain}} {{state}} {{outcome}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Histories of wallets a minute',
          about: 'Turns by outcome. refused: too many node calls (ON_DEMAND_MAX_CALLS).',
          unit: 'none',
          queries: [
            [
              'sum by (chain, kind, outcome) (rate(chainstead_histories_total[5m])) * 60',
              '{{chain}} {{kind}} {{outcome}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Metadata of tokens a minute',
          about: 'Contracts asked for name, symbol and decimals, by outcome.',
          unit: 'none',
          queries: [['sum by (chain, outcome) (rate(chainstead_token_facts_total[5m])) * 60', '{{chain}} {{outcome}}']],
        },
        {
          kind: 'time',
          title: 'Metadata of NFTs a minute',
          about: 'Collections and tokens read, by outcome.',
          unit: 'none',
          queries: [
            [
              'sum by (chain, kind, outcome) (rate(chainstead_nft_metadata_readings_total[5m])) * 60',
              '{{chain}} {{kind}} {{outcome}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Traits of collections an hour',
          about: 'By outcome.',
          unit: 'none',
          queries: [['sum by (chain, outcome) (increase(chainstead_nft_traits_total[1h]))', '{{chain}} {{outcome}}']],
        },
      ],
    },
    {
      title: 'Gateway',
      panels: [
        {
          kind: 'time',
          title: 'Calls a second',
          about:
            'By where their answer came from: hit is the memory, miss an upstream, coalesced somebody who asked the same.',
          unit: 'cps',
          queries: [['sum by (chain, outcome) (rate(chainstead_gateway_answers_total[5m]))', '{{chain}} {{outcome}}']],
        },
        {
          kind: 'time',
          title: 'Answers without an upstream',
          about: 'Part of the calls that were answered from memory or together with others.',
          unit: 'percentunit',
          queries: [
            [
              'sum by (chain) (rate(chainstead_gateway_answers_total{outcome=~"hit|coalesced"}[5m])) / sum by (chain) (rate(chainstead_gateway_answers_total[5m]))',
              '{{chain}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Calls to upstreams a second',
          about: 'That the API makes of its own and for clients, by method.',
          unit: 'cps',
          queries: [
            ['sum by (chain, method) (rate(chainstead_rpc_requests_total{role="api"}[5m]))', '{{chain}} {{method}}'],
          ],
        },
        {
          kind: 'time',
          title: 'Refused a second',
          about: 'Before they were tried: unsupported method, rate-limited key, invalid-params.',
          unit: 'cps',
          queries: [['sum by (chain, reason) (rate(chainstead_gateway_refusals_total[5m]))', '{{chain}} {{reason}}']],
        },
        {
          kind: 'time',
          title: 'Errors',
          about: 'Part of the calls. Reverts are errors, too: compare with other days.',
          unit: 'percentunit',
          queries: [
            [
              'sum by (chain) (rate(chainstead_gateway_answers_total{outcome="error"}[5m])) / sum by (chain) (rate(chainstead_gateway_answers_total[5m]))',
              '{{chain}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'WebSockets',
          about: 'Open, and what they are subscribed to.',
          unit: 'none',
          queries: [
            ['sum by (chain) (chainstead_gateway_sockets)', '{{chain}} open'],
            ['sum by (chain, kind) (chainstead_gateway_subscriptions)', '{{chain}} {{kind}}'],
          ],
        },
        {
          kind: 'time',
          title: 'Notifications a second',
          about: 'Sent to subscriptions.',
          unit: 'ops',
          queries: [['sum by (chain, kind) (rate(chainstead_gateway_notifications_total[5m]))', '{{chain}} {{kind}}']],
        },
        {
          kind: 'time',
          title: 'WebSockets ended and refused a minute',
          about: 'slow: the client did not read; 503: GATEWAY_SOCKETS_MAX; 429: GATEWAY_SOCKETS_PER_KEY.',
          unit: 'none',
          queries: [
            ['sum by (reason) (rate(chainstead_gateway_sockets_ended_total[5m])) * 60', 'ended: {{reason}}'],
            ['sum by (status) (rate(chainstead_gateway_sockets_refused_total[5m])) * 60', 'refused: {{status}}'],
          ],
        },
        {
          kind: 'time',
          title: 'Filters made a minute',
          about: 'By kind.',
          unit: 'none',
          queries: [['sum by (chain, kind) (rate(chainstead_gateway_filters_total[5m])) * 60', '{{chain}} {{kind}}']],
        },
        {
          kind: 'time',
          title: 'Blocks that answers may still change in',
          about: 'Between the block up to which answers are kept for good and the head of the gateway.',
          unit: 'none',
          queries: [
            ['max by (chain) (chainstead_gateway_head) - max by (chain) (chainstead_gateway_final_block)', '{{chain}}'],
          ],
        },
        {
          kind: 'time',
          title: 'Answers kept in memory',
          about: 'Of each API process.',
          unit: 'bytes',
          queries: [['sum by (instance) (chainstead_gateway_cache_bytes)', '{{instance}}']],
        },
      ],
    },
  ],
};

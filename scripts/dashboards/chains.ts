import type { Dashboard } from './dashboard.ts';

/** Ingestion, proofs, and the nodes that it asks. */
export const chains: Dashboard = {
  uid: 'chainstead-chains',
  title: 'Chainstead: chains and upstreams',
  rows: [
    {
      title: 'Chains',
      panels: [
        {
          kind: 'time',
          title: 'Blocks behind the head',
          about: 'Streams match in the transaction of the block: they are as far behind.',
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
          title: 'Processes that lead or stand by',
          about: 'One leads each chain. Without one that stands by, nobody takes over at once.',
          unit: 'none',
          queries: [
            ['sum by (chain) (chainstead_sync_leader)', '{{chain}} leads'],
            ['sum by (chain) (chainstead_sync_standby)', '{{chain}} stands by'],
          ],
        },
        {
          kind: 'time',
          title: 'Time of a commit, p95',
          about: 'Decoding included, by kind of work. Slow: look at Postgres.',
          unit: 's',
          queries: [
            [
              'histogram_quantile(0.95, sum by (le, chain, kind) (rate(chainstead_sync_commit_seconds_bucket[5m])))',
              '{{chain}} {{kind}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Reorganisations an hour',
          about: 'Rolled back, by chain.',
          unit: 'none',
          queries: [['sum by (chain) (increase(chainstead_sync_reorgs_total[1h]))', '{{chain}}']],
        },
        {
          kind: 'time',
          title: 'Depth of reorganisations, p95',
          about: 'In blocks, of the last six hours.',
          unit: 'none',
          queries: [
            [
              'histogram_quantile(0.95, sum by (le, chain) (increase(chainstead_sync_reorg_depth_blocks_bucket[6h])))',
              '{{chain}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Blocks missing',
          about: 'Between the start of history and the checkpoint, by dataset.',
          unit: 'none',
          queries: [
            [
              'max by (chain, dataset) (chainstead_sync_gap_blocks and on (chain, instance, process) (chainstead_sync_leader == 1))',
              '{{chain}} {{dataset}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Logs a second',
          about: 'Read from upstreams and committed, by kind of work.',
          unit: 'ops',
          queries: [['sum by (chain, kind) (rate(chainstead_sync_logs_total[5m]))', '{{chain}} {{kind}}']],
        },
        {
          kind: 'time',
          title: 'Derived states that are built',
          about: 'Below 1 while one is built from the rows that are there.',
          unit: 'percentunit',
          queries: [['max by (chain, state) (chainstead_sync_derived_built_ratio)', '{{chain}} {{state}}']],
        },
        {
          kind: 'time',
          title: 'Rows dropped an hour',
          about: 'Of blocks below what is kept (KEEP_BLOCKS, KEEP_SINCE), about.',
          unit: 'none',
          queries: [
            ['sum by (chain, dataset) (increase(chainstead_sync_dropped_rows_total[1h]))', '{{chain}} {{dataset}}'],
          ],
        },
        {
          kind: 'stat',
          title: 'Lowest block that is kept',
          about: '0 where all are.',
          unit: 'none',
          queries: [['max by (chain) (chainstead_sync_kept_from_block)', '{{chain}}']],
        },
      ],
    },
    {
      title: 'Proofs',
      panels: [
        {
          kind: 'time',
          title: 'Blocks covered, by proof',
          about: 'Of all datasets together. `unproven` could not be proven, and is kept since PROOF is record.',
          unit: 'none',
          queries: [
            [
              'sum by (chain, proof) (max by (chain, dataset, proof) (chainstead_sync_covered_blocks))',
              '{{chain}} {{proof}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Blocks proven a second',
          about: 'By the background prover; 0 without work.',
          unit: 'ops',
          queries: [['max by (chain) (chainstead_sync_prover_blocks_per_second)', '{{chain}}']],
        },
        {
          kind: 'stat',
          title: 'Time until all is proven',
          about: 'At the rate of the moment; nothing without work.',
          unit: 's',
          queries: [['max by (chain) (chainstead_sync_prover_seconds_left)', '{{chain}}']],
        },
        {
          kind: 'stat',
          title: 'Blocks repaired in a day',
          about: 'An upstream had told them wrong.',
          unit: 'none',
          queries: [
            [
              'sum by (chain, upstream) (increase(chainstead_sync_prover_repaired_blocks_total[1d]))',
              '{{chain}} {{upstream}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Upstreams that disagree, an hour',
          about: 'Answers that contradict the header, another upstream, or themselves. Each is refused or repaired.',
          unit: 'none',
          queries: [
            [
              'sum by (chain, upstream, kind) (increase(chainstead_rpc_faults_total{kind=~".*-mismatch|missing-logs|surplus-logs|head-lie|wrong-chain"}[1h]))',
              '{{upstream}} {{kind}}',
            ],
          ],
        },
      ],
    },
    {
      title: 'Upstreams',
      panels: [
        {
          kind: 'time',
          title: 'Calls a second',
          about: 'By role: ingest indexes, worker answers questions, api is the gateway.',
          unit: 'cps',
          queries: [
            [
              'sum by (chain, role, upstream) (rate(chainstead_rpc_requests_total[5m]))',
              '{{chain}} {{upstream}} {{role}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Calls that failed',
          about: 'Part of the calls by upstream; errors of the call itself are answers.',
          unit: 'percentunit',
          queries: [
            [
              'sum by (chain, upstream) (rate(chainstead_rpc_requests_total{outcome!~"ok|error"}[5m])) / sum by (chain, upstream) (rate(chainstead_rpc_requests_total[5m]))',
              '{{chain}} {{upstream}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Latency, p95',
          about: 'From sending a request to its parsed answer.',
          unit: 's',
          queries: [
            [
              'histogram_quantile(0.95, sum by (le, chain, upstream) (rate(chainstead_rpc_request_duration_seconds_bucket[5m])))',
              '{{chain}} {{upstream}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Faults a minute',
          about: 'By kind.',
          unit: 'none',
          queries: [
            ['sum by (chain, upstream, kind) (rate(chainstead_rpc_faults_total[5m])) * 60', '{{upstream}} {{kind}}'],
          ],
        },
        {
          kind: 'time',
          title: 'Rate limited a minute',
          about: 'The upstream wants fewer calls: lower RPC_RATE, or add another.',
          unit: 'none',
          queries: [
            [
              'sum by (chain, upstream) (rate(chainstead_rpc_faults_total{kind="rate-limited"}[5m])) * 60',
              '{{chain}} {{upstream}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Pause',
          about: 'Seconds for which an upstream is asked nothing. A minute and more: its budget is used up.',
          unit: 's',
          queries: [['max by (chain, upstream) (chainstead_rpc_pause_seconds)', '{{chain}} {{upstream}}']],
        },
        {
          kind: 'time',
          title: 'Circuit',
          about: '0 closed, 1 half-open, 2 open, 3 left out.',
          unit: 'none',
          queries: [
            ['max by (chain, role, upstream) (chainstead_rpc_circuit_state)', '{{chain}} {{upstream}} {{role}}'],
          ],
        },
        {
          kind: 'time',
          title: 'Behind the best upstream',
          about: 'Blocks.',
          unit: 'none',
          queries: [
            [
              'max by (chain) (chainstead_rpc_upstream_head) - on (chain) group_right () max by (chain, upstream) (chainstead_rpc_upstream_head)',
              '{{chain}} {{upstream}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Calls against what is allowed',
          about: 'Calls a second of all processes, and RPC_RATE of those that have one.',
          unit: 'cps',
          queries: [
            ['sum by (chain, upstream) (rate(chainstead_rpc_requests_total[5m]))', '{{chain}} {{upstream}}'],
            ['max by (chain, upstream) (chainstead_rpc_rate_allowed)', '{{chain}} {{upstream}} allowed'],
          ],
        },
        {
          kind: 'time',
          title: 'Calls that wait for their turn',
          about: 'Within RPC_RATE and RPC_CONCURRENCY. Many all day: raise them where the provider gives more.',
          unit: 'none',
          queries: [['sum by (chain, upstream) (chainstead_rpc_turns_waiting)', '{{chain}} {{upstream}}']],
        },
        {
          kind: 'time',
          title: 'Requests in flight',
          about: 'Sent and not yet answered.',
          unit: 'none',
          queries: [['sum by (chain, upstream) (chainstead_rpc_in_flight)', '{{chain}} {{upstream}}']],
        },
      ],
    },
    {
      title: 'Aptos',
      panels: [
        {
          kind: 'time',
          title: 'Calls a second',
          about: 'To fullnodes, by outcome.',
          unit: 'cps',
          queries: [
            [
              'sum by (chain, fullnode, outcome) (rate(chainstead_aptos_requests_total[5m]))',
              '{{fullnode}} {{outcome}}',
            ],
          ],
        },
        {
          kind: 'time',
          title: 'Bytes a second',
          about: 'Of answers, decompressed.',
          unit: 'Bps',
          queries: [['sum by (chain, fullnode) (rate(chainstead_aptos_bytes_total[5m]))', '{{fullnode}}']],
        },
      ],
    },
  ],
};

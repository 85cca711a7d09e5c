import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import type { ChainStatus } from '@chainstead/sync/ingest';
import { describe, expect, it } from 'vitest';
import { renderStatus, type StatusFacts, toStatusJson } from './chain-status-text.ts';

const registry = createChainRegistry();
const NOW = 1_700_000_000_000;

const status: ChainStatus = {
  chainId: registry.get('eth').id,
  key: 'eth',
  historyStart: 100,
  retainedFrom: 0,
  firstFollowed: 190,
  checkpoint: 200,
  head: 203,
  lag: 3,
  stored: null,
  unknownHead: null,
  stop: null,
  stallReason: 'No progress for 40 s: a.example (degraded; eth_getBlockReceipts: timed out)',
  sources: [],
  upstreams: [
    {
      name: 'a.example',
      state: 'degraded',
      reason: 'times out',
      score: 0.4,
      head: 203,
      headAt: NOW,
      latencyMs: { p50: 80.4, p95: 910 },
      requests: 1_234,
      learnedRate: 17.25,
      faults: { timeout: 12, 'missing-logs': 1 },
      capabilities: { blockReceipts: true, batch: true, traces: null, logRangeMax: 2_000, logTimestamps: true },
      lastError: { at: NOW, method: 'eth_getBlockReceipts', text: 'timed out' },
    },
  ],
  coverage: [
    {
      dataset: 'erc20-transfers',
      range: { from: 150, to: 189 },
      proof: 'none',
      reason: null,
      upstream: 'a.example',
    },
    {
      dataset: 'erc20-transfers',
      range: { from: 190, to: 200 },
      proof: 'receipts',
      reason: null,
      upstream: null,
    },
  ],
  filling: { blocksPerSecond: 2.5, blocksLeft: 50, secondsLeft: 20 },
  proving: { blocksPerSecond: 61.4, blocksLeft: 22_000_000, secondsLeft: 358_307 },
  gaps: [{ dataset: 'erc20-transfers', range: { from: 100, to: 149 } }],
  failures: [],
  building: [],
  updatedAt: new Date(NOW - 2_000),
};
const facts: StatusFacts = {
  chains: [status],
  configured: [registry.get('eth')],
  ends: new Map(),
  unknownHeads: new Map(),
  rows: [{ table: 'erc20_transfer_sides', rows: 5_000, exact: false }],
  histories: { unfinished: [], counts: [] },
  metadata: [],
  progress: new Map(),
  traits: [],
  registry,
  now: NOW,
};

describe('a chain that is not configured any more', () => {
  const since = new Date('2026-05-01T00:00:00.000Z');
  const stored = { ...facts, chains: [{ ...status, stored: { since } }] };

  it('is called stored, and names the command that deletes it, without a lag or a state of nodes', () => {
    const [text = ''] = renderStatus(stored).split('\n\n');
    expect(text).toContain(
      'eth (1)\n  not configured: stored, not indexed since 2026-05-01T00:00:00.000Z; "chainstead chains remove eth" deletes it',
    );
    expect(text).not.toMatch(/behind|a\.example|blocked/);
  });

  it('has no lag in the JSON', () => {
    expect(toStatusJson(stored)).toMatchObject({
      chains: [{ lag: null, stored: { not_indexed_since: since.toISOString() } }],
    });
    expect(toStatusJson(facts)).toMatchObject({ chains: [{ lag: 3, stored: null }] });
  });
});

const WALLET = parseAddress(`0x${'a1'.repeat(20)}`);
const history = {
  subject: { chainId: status.chainId, kind: 'wallet', address: WALLET },
  status: 'refused',
  callsEstimated: 12_000,
  callsMade: 0,
  rowsAdded: 0,
  requestedAt: new Date(NOW),
  attempts: 0,
  dueAt: null,
  error: {
    code: 'HISTORY_REFUSED',
    message: 'It would take about 12000 node calls; ON_DEMAND_MAX_CALLS allows 10000',
  },
} as const;

describe('status', () => {
  it('shows a person head, lag, coverage by proof, what is missing, what holds it up, upstreams and rows', () => {
    const text = renderStatus(facts);
    expect(text).toContain('eth (1), as of 2s ago');
    expect(text).toContain('indexed to  200, 3 blocks behind');
    expect(text).toContain('erc20-transfers: 40 blocks none, 11 blocks receipts; 50 blocks missing');
    expect(text).toContain('blocked     No progress for 40 s');
    expect(text).toContain('  filling     50 blocks left at 2.5 per second, about 20s\n');
    expect(text).toContain('proving     22000000 blocks left at 61 per second, about 4d 3h\n');
    expect(text).toMatch(
      /a\.example\s+degraded \(times out\)\s+0\.40\s+203\s+80\/910 ms\s+1,234\s+17\.3\/s\s+timeout 12, missing-logs 1/,
    );
    expect(text).toMatch(/erc20_transfer_sides\s+5,000\s+estimated/);
  });

  it('says which projections are being built, and how far they are', () => {
    const building = [
      { state: 'nft-balances', dataset: 'nft-transfers', status: 'building', part: 0.437, rows: 9_000 },
      { state: 'nft-sale-days', dataset: 'nft-trades', status: 'clearing', part: 0, rows: 0 },
    ] as const;
    const reported = { ...facts, chains: [{ ...status, building }] };
    expect(renderStatus(reported)).toContain(
      '  building    nft-balances: 43 % of blocks, 9000 rows\n  building    nft-sale-days: clearing old rows\n',
    );
    expect(toStatusJson(reported)).toMatchObject({ chains: [{ building }] });
    expect(renderStatus(facts)).not.toContain('building');
  });

  it('shows an unknown head with its reason, and no lag', () => {
    const unknownHead = {
      since: new Date(NOW - 34_000),
      reason: 'a.example (disabled): HTTP 401',
      isSilent: false,
    };
    const text = renderStatus({ ...facts, chains: [{ ...status, unknownHead }] });
    expect(text).toContain(
      '  head        unknown since 2023-11-14T22:12:46.000Z (34s, last 203): a.example (disabled): HTTP 401\n  indexed to  200\n',
    );
    const silent = renderStatus({
      ...facts,
      chains: [{ ...status, unknownHead: { ...unknownHead, isSilent: true } }],
    });
    expect(silent).toContain('no process watches the upstreams');
    expect(silent).not.toContain('degraded (times out)');
    expect(renderStatus({ ...facts, chains: [], unknownHeads: new Map([['1', unknownHead]]) })).toContain(
      'not ingested yet: a.example (disabled): HTTP 401',
    );
  });

  it('says loudly that a chain is stopped, and why', () => {
    const stopped = { ...status, stop: { code: 'REORG_TOO_DEEP', message: 'Too deep' } };
    expect(renderStatus({ ...facts, chains: [stopped] })).toContain('STOPPED     Too deep [REORG_TOO_DEEP]');
  });

  it('names configured chains that were never ingested, beside the others or alone', () => {
    const configured = [registry.get('eth'), registry.get('base')];
    const both = { ...facts, configured };
    expect(renderStatus(both)).toMatch(/eth \(1\), as of 2s ago[\s\S]*base \(8453\)\n {2}not ingested yet/);
    expect(toStatusJson(both)).toMatchObject({ never_ingested: [{ chain: 'base', chain_id: 8453 }] });
    const none = renderStatus({ ...both, chains: [] });
    expect(none).toContain('eth (1)\n  not ingested yet');
    expect(none).toContain('base (8453)\n  not ingested yet');
    expect(renderStatus({ ...facts, configured: [], chains: [] })).toContain('No chain has been ingested yet');
    expect(toStatusJson(facts)).toMatchObject({ never_ingested: [] });
  });

  it('shows how many histories there are, and what has become of those that are not finished', () => {
    const running = { ...history, status: 'running', callsEstimated: 40, callsMade: 12, error: null } as const;
    const counts = [
      { chainId: status.chainId, status: 'done', count: 7 },
      { chainId: status.chainId, status: 'running', count: 1 },
      { chainId: registry.get('base').id, status: 'done', count: 3 },
    ] as const;
    const text = renderStatus({ ...facts, histories: { unfinished: [running, history], counts } });
    expect(text).toContain('histories   7 done, 1 running\n');
    expect(text).toContain(`wallet ${WALLET} running, 12 of about 40 calls\n`);
    expect(text).toContain(
      `wallet ${WALLET} refused, 0 of about 12000 calls: It would take about 12000 node calls; ON_DEMAND_MAX_CALLS allows 10000 [HISTORY_REFUSED]`,
    );
    expect(toStatusJson({ ...facts, histories: { unfinished: [history], counts } })).toMatchObject({
      chains: [{ histories: { done: 7, running: 1 } }],
      histories: [{ chain_id: 1, kind: 'wallet', address: WALLET, status: 'refused', calls_estimated: 12_000 }],
    });
    expect(renderStatus(facts)).not.toContain('histories');
  });

  it('says of collections and tokens what was read, what waits, and what fails and why', () => {
    const metadata = [
      {
        chainId: status.chainId,
        collections: { known: 120, waiting: 3, failing: 1 },
        tokens: { known: 7, waiting: 0, failing: 0 },
        failing: [
          {
            address: WALLET,
            attempts: 4,
            dueAt: new Date(NOW),
            error: { code: 'DOCUMENT_HTTP_STATUS', message: 'x.example answered 503' },
          },
        ],
      },
    ];
    const text = renderStatus({ ...facts, metadata });
    expect(text).toContain('collections 120 known, 3 waiting, 1 failing');
    expect(text).toContain(`${WALLET} after 4 tries: x.example answered 503 [DOCUMENT_HTTP_STATUS]`);
    expect(text).toContain('token data  7 known, 0 waiting, 0 failing');
    expect(renderStatus(facts)).not.toContain('collections');
    expect(toStatusJson({ ...facts, metadata })).toMatchObject({
      chains: [
        {
          metadata: {
            collections: { known: 120, waiting: 3, failing: 1 },
            failing: [{ address: WALLET, attempts: 4, due_at: new Date(NOW).toISOString() }],
          },
        },
      ],
    });
    expect(toStatusJson(facts)).toMatchObject({ chains: [{ metadata: null }] });
  });

  it('says of traits how many collections have them, and what others wait for', () => {
    const atWork = { history: 1, queue: 2, settle: 3, compute: 4, improve: 0 };
    const traits = [{ chainId: status.chainId, computed: 9, tooLarge: 5, atWork }];
    expect(renderStatus({ ...facts, traits })).toContain(
      'traits      9 computed; waiting: 1 for history, 5 for metadata, 4 for computation; 5 too large',
    );
    expect(renderStatus(facts)).not.toContain('traits');
    expect(toStatusJson({ ...facts, traits })).toMatchObject({
      chains: [{ traits: { computed: 9, waiting: atWork, too_large: 5 } }],
    });
    expect(toStatusJson(facts)).toMatchObject({ chains: [{ traits: null }] });
  });

  it('names the configured end once it is reached, instead of blocks behind a head', () => {
    const linesTo = (end: number) =>
      renderStatus({ ...facts, ends: new Map([['1', end]]) }).match(/indexed to {2}.*/)?.[0];
    expect(linesTo(200)).toBe('indexed to  200, the configured end');
    expect(linesTo(201)).toBe('indexed to  200, 3 blocks behind');
  });

  // Invariant: PROOF-SAME-CHAIN
  it('shows blocks that nothing links to the chain on a line of their own, with what to do', () => {
    const [first] = status.coverage;
    if (first === undefined) throw new Error('The status covers nothing');
    const coverage = [{ ...first, range: { from: 1, to: 20 }, proof: 'record', reason: 'receipts' } as const];
    const text = renderStatus({ ...facts, chains: [{ ...status, coverage }] });
    expect(text).toMatch(/record {6}20 blocks match their roots, but nothing links them.* RPC_URLS_ETH/);
    expect(renderStatus(facts)).not.toContain('record  ');
  });

  it('gives a program the same facts', () => {
    expect(toStatusJson(facts)).toMatchObject({
      chains: [
        {
          chain: 'eth',
          head: 203,
          lag: 3,
          covered: [{ dataset: 'erc20-transfers', levels: { none: 40, receipts: 11 }, missing: 50 }],
        },
      ],
      rows: [{ table: 'erc20_transfer_sides', rows: 5_000, exact: false }],
    });
  });
});

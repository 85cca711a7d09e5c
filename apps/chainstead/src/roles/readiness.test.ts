import { createChainRegistry } from '@chainstead/chains';
import type { ChainStatus, UnknownHead } from '@chainstead/sync/ingest';
import { describe, expect, it } from 'vitest';
import type { ChainConfiguration } from '../configuration/index.ts';
import { datasets } from '../datasets/index.ts';
import { judgeReadiness } from './readiness.ts';

const eth = createChainRegistry().get('eth');
const NOW = 1_700_000_000_000;

const configured = (changes: Partial<ChainConfiguration> = {}): ChainConfiguration => ({
  name: 'eth',
  chain: eth,
  upstreams: [],
  history: [],
  usesPublicUpstreams: true,
  hasNoNodes: false,
  startBlock: 0,
  startsWhole: false,
  isOwn: false,
  endBlock: null,
  retention: { blocks: null, since: null },
  backfillOrder: 'newest-first',
  proof: 'strict',
  backfillProof: 'none',
  ...changes,
});

const status = (changes: Partial<ChainStatus> = {}): ChainStatus => ({
  chainId: eth.id,
  key: 'eth',
  proving: null,
  filling: null,
  historyStart: 0,
  retainedFrom: 0,
  firstFollowed: 90,
  checkpoint: 100,
  head: 100,
  lag: 0,
  stored: null,
  unknownHead: null,
  stop: null,
  stallReason: null,
  upstreams: [],
  sources: [],
  coverage: [],
  gaps: [],
  failures: [],
  building: [],
  updatedAt: new Date(NOW - 1_000),
  ...changes,
});

const judge = (
  statuses: readonly ChainStatus[],
  chains = [configured()],
  unknownHeads: ReadonlyMap<string, UnknownHead> = new Map(),
) => judgeReadiness(statuses, { chains, datasets, readyLagBlocks: 5, unknownHeads }).reasons;

describe('readiness', () => {
  it.each<[string, Partial<ChainStatus>, string | null]>([
    ['caught up', {}, null],
    ['behind within the lag', { lag: 5 }, null],
    ['behind', { lag: 6 }, 'eth is 6 blocks behind its head'],
    ['before the first block', { lag: null }, 'eth has not followed a block yet'],
    ['stopped', { stop: { code: 'REORG_TOO_DEEP', message: '' } }, 'eth is stopped: REORG_TOO_DEEP'],
  ])('of a chain that is %s', (_what, changes, reason) => {
    expect(judge([status(changes)])).toEqual(reason === null ? [] : [reason]);
  });

  it('of a chain whose head is unknown contains the reason', () => {
    const unknown = new Map([['1', { since: new Date(NOW), reason: 'a (disabled): HTTP 401', isSilent: false }]]);
    const reason = 'has an unknown head since 2023-11-14T22:13:20.000Z: a (disabled): HTTP 401';
    expect(judge([status()], [configured()], unknown)).toEqual([`eth ${reason}`]);
    expect(judge([], [configured()], unknown)).toEqual([`eth was never ingested and ${reason}`]);
  });

  it('of a chain that was never ingested', () => {
    expect(judge([])).toEqual(['eth was never ingested']);
  });

  it('of a bounded chain is its coverage, whoever ingests it and however old that is', () => {
    const covered = (to: number): ChainStatus =>
      status({
        checkpoint: null,
        lag: null,
        updatedAt: new Date(0),
        coverage: datasets.map(({ name }) => ({
          dataset: name,
          range: { from: 0, to },
          proof: 'none',
          reason: null,
          upstream: null,
        })),
      });
    const bounded = [configured({ endBlock: 50 })];
    expect(judge([covered(50)], bounded)).toEqual([]);
    expect(judge([covered(45)], bounded)).toEqual([]);
    expect(judge([covered(44)], bounded)).toEqual(['eth lacks 6 blocks up to END_BLOCK']);
    // What is not kept is not missing, of the datasets that drop it.
    const { coverage } = covered(50);
    const without = (from: number, isDroppable: (name: string) => boolean) =>
      coverage.map((one) => (isDroppable(one.dataset) ? { ...one, range: { from, to: 50 } } : one));
    const isTransfers = (name: string): boolean => name === 'erc20-transfers';
    const kept = { ...covered(50), retainedFrom: 20 };
    expect(judge([{ ...kept, coverage: without(20, isTransfers) }], bounded)).toEqual([]);
    expect(judge([{ ...kept, coverage: without(30, isTransfers) }], bounded)).toEqual([
      'eth lacks 10 blocks up to END_BLOCK',
    ]);
    expect(judge([{ ...kept, coverage: without(20, (name) => !isTransfers(name)) }], bounded)).toEqual([
      'eth lacks 20 blocks up to END_BLOCK',
    ]);
  });
});

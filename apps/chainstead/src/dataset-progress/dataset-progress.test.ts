import { type CustomChain, createChainRegistry } from '@chainstead/chains';
import type { DatasetCoverage } from '@chainstead/sync/requests';
import { describe, expect, it } from 'vitest';
import { datasetProgress, POOLS_COUNTED_MAX, type ProgressFacts, progressText } from './dataset-progress.ts';

const chainOf = (custom: CustomChain) => createChainRegistry({ additional: [custom] }).get(custom.key);
const eth = chainOf({ key: 'eth', id: 1, swaps: 'all' });

const covered = (dataset: string, from: number, to: number, proof: DatasetCoverage['proof'] = 'receipts') => ({
  ...{ dataset, range: { from, to }, proof, upstream: null },
  reason: proof === 'unproven' ? 'root-mismatch' : null,
});

function textsOf(changed: Partial<ProgressFacts>, status: Partial<ProgressFacts['status']> = {}) {
  const progress = datasetProgress({
    chain: eth,
    datasets: ['swaps', 'pool-states'],
    verifyBlocksPerSecond: 'auto',
    market: { duePools: 0, feedsWithoutValue: 0 },
    status: {
      coverage: [covered('swaps', 100, 200), covered('pool-states', 100, 200)],
      ...{ gaps: [], proving: null, unknownHead: null, ...status },
    },
    ...changed,
  });
  return Object.fromEntries(progress.map((one) => [one.subject, [one.state, progressText(one)]]));
}

describe('progress of swaps, prices and proofs', () => {
  it('is complete with the covered blocks if nothing is missing', () => {
    const complete = ['complete', 'complete from block 100 to 200'];
    expect(textsOf({})).toEqual({ swaps: complete, prices: complete, proofs: complete });
  });

  it('names missing blocks, unproven pools and feeds without a value', () => {
    const gaps = [
      { dataset: 'swaps', range: { from: 20, to: 99 } },
      { dataset: 'pool-states', range: { from: 20, to: 29 } },
      { dataset: 'pool-states', range: { from: 40, to: 40 } },
    ];
    expect(textsOf({ market: { duePools: 1, feedsWithoutValue: 2 } }, { gaps })).toMatchObject({
      swaps: [
        'waiting',
        'complete from block 100 to 200; waiting for 80 blocks from 20 to 99; the proof of 1 pool',
      ],
      prices: [
        'waiting',
        expect.stringMatching(
          /^complete from block 100 to 200; waiting for 11 blocks between 20 and 40; the first value of 2 of \d+ price feeds; the proof of 1 pool$/,
        ),
      ],
    });
    expect(textsOf({ market: { duePools: POOLS_COUNTED_MAX, feedsWithoutValue: 0 } }).swaps?.[1]).toContain(
      'the proof of at least 10000 pools',
    );
  });

  it('names the first block if none is indexed', () => {
    const waiting = ['waiting', 'no block yet; waiting for the first block'];
    expect(textsOf({}, { coverage: [] })).toMatchObject({ swaps: waiting, prices: waiting });
  });

  it('names the setting that turns swaps or prices off', () => {
    const off = chainOf({ key: 'base-sepolia', id: 84_532, swaps: 'off' });
    expect(textsOf({ chain: off })).toMatchObject({
      swaps: ['off', 'off: set SWAPS_BASE_SEPOLIA=all and restart'],
      prices: [
        'waiting',
        expect.stringContaining('most pools are found: set SWAPS_BASE_SEPOLIA=all and restart'),
      ],
    });
    expect(textsOf({ datasets: ['erc20-transfers'] })).toMatchObject({
      swaps: ['off', 'off: add swaps to DATASETS and restart'],
      prices: ['off', 'off: add pool-states to DATASETS and restart'],
    });
  });

  it('names the settings for a known price on a chain without any', () => {
    const mine = chainOf({ key: 'mine', id: 31_337, swaps: 'all' });
    const needed = 'a token with a known price: set DOLLAR_TOKENS_MINE, FEEDS_MINE or ETHER_FEED_MINE';
    expect(textsOf({ chain: mine }).prices).toEqual([
      'waiting',
      `complete from block 100 to 200; waiting for ${needed}`,
    ]);
  });

  it('names unproven blocks, and what the prover needs for them', () => {
    const coverage = [covered('erc20-transfers', 20, 99, 'none'), covered('erc20-transfers', 100, 200)];
    const proofs = (changed: Partial<ProgressFacts>, status: Partial<ProgressFacts['status']> = {}) =>
      textsOf(changed, { coverage, ...status }).proofs?.[1];
    const left = 'complete from block 100 to 200; waiting for the level receipts of 80 blocks from 20 to 99';
    expect(proofs({}, { proving: { blocksPerSecond: 12, blocksLeft: 80, secondsLeft: 7 } })).toBe(
      `${left}: 12 blocks per second`,
    );
    expect(proofs({})).toBe(`${left}: the prover needs receipts from a node`);
    expect(proofs({ verifyBlocksPerSecond: 0 })).toBe(`${left}: VERIFY_BLOCKS_PER_SECOND=0 turns the prover off`);
    const unknownHead = { since: new Date(0), reason: 'no ingest process reports on the chain', isSilent: true };
    expect(proofs({}, { unknownHead })).toBe(`${left}: no ingest process runs`);
    const failed = [covered('swaps', 7, 7, 'unproven'), covered('swaps', 8, 9)];
    expect(proofs({}, { coverage: failed })).toBe(
      'complete from block 8 to 9; waiting for block 7 that failed (root-mismatch): add another upstream',
    );
  });
});

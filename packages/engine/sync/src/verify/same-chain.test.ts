/** One of two nodes answers for another chain at times: same numbers, another genesis, all of it consistent. */
import { type BlockRange, ChainsteadError, mergeRanges } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { backfill } from '../backfill/backfill.ts';
import { listCoverage } from '../coverage/coverage.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { verifyRanges } from '../range-jobs/range-commands.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { openTwoChains, type TwoChainsOptions, type TwoChainsStage } from '../testing/two-chains.ts';
import { type ProverOptions, prove } from './prover.ts';

const BLOCKS = 40;
const RANGE = { from: 1, to: BLOCKS };
const NEVER = new AbortController().signal;
const scratch = scratchOfFile();
let nextChainId = 987_001;

beforeAll(() => createMarkTables(scratch.database));

async function open(changes: Partial<TwoChainsOptions> = {}): Promise<TwoChainsStage> {
  const options = { blocks: BLOCKS, window: 30, tellsChain: false, ...changes };
  const stage = await openTwoChains(scratch.database, nextChainId++, [marks] as readonly Dataset[], options);
  onTestFinished(() => stage.close());
  return stage;
}

const fill = (
  stage: TwoChainsStage,
  proof: 'none' | 'receipts',
  order: 'newest-first' | 'oldest-first' = 'newest-first',
  range: BlockRange = RANGE,
) => backfill({ ...stage, order, proof, kind: 'add' }, [range], NEVER);

function proverOf(stage: TwoChainsStage, changes: Partial<ProverOptions> = {}): ProverOptions {
  const idle = { isBehind: () => false, isFilling: () => false, onRate: () => undefined, finished: () => true };
  return { ...stage, ...idle, rate: 10_000, idleMs: 1, ...changes };
}

const NOTHING_WRONG = { foreign: 0, missing: 0 };
// Invariant: PROOF-SAME-CHAIN
const KINDS = [
  { tellsChain: false, window: 5 },
  { tellsChain: false, window: 60 },
  { tellsChain: true, window: 30 },
];

describe.each(KINDS)(
  'with $window requests in a row for another chain, whose id it tells: $tellsChain',
  (kind) => {
    it('the prover repairs no right row', async () => {
      const stage = await open(kind);
      await fill(stage, 'none');
      stage.misroute(0.4);
      for (let round = 0; round < 3; round++) await prove(proverOf(stage), NEVER);
      expect(Object.keys(stage.pool.status()[0]?.faults ?? {})).toEqual([]);
      expect(await stage.wrongMarks(RANGE.from, RANGE.to)).toEqual(NOTHING_WRONG);
      stage.misroute(0);
      await prove(proverOf(stage), NEVER);
      expect((await stage.coverageOf(marks)).levels).toEqual(['receipts']);
      expect(await misderived(scratch.database, stage.chain.id)).toEqual([]);
    });

    it('the prover puts right what was filled from the other chain', async () => {
      const stage = await open(kind);
      stage.misroute(1);
      // The check of the node gets no response.
      const silence = new ChainsteadError({ code: 'SILENT', message: 'No response', retryable: true });
      const getBlock = () => Promise.reject(silence);
      await fill({ ...stage, pool: { ...stage.misroutedPool, getBlock } }, 'none');
      expect((await stage.wrongMarks(RANGE.from, RANGE.to)).foreign).toBeGreaterThan(0);
      stage.misroute(0.4);
      for (let round = 0; round < 3; round++) await prove(proverOf(stage), NEVER);
      stage.misroute(0);
      await prove(proverOf(stage), NEVER);
      expect((await stage.coverageOf(marks)).levels).toEqual(['receipts']);
      expect(await stage.wrongMarks(RANGE.from, RANGE.to)).toEqual(NOTHING_WRONG);
    });

    it('a backfill of filtered logs stores none of it', async () => {
      const stage = await open(kind);
      stage.misroute(1);
      await fill({ ...stage, pool: stage.startingAtSecond() }, 'none');
      expect(stage.misrouted()).toBeGreaterThan(0);
      expect(await stage.wrongMarks(RANGE.from, RANGE.to)).toEqual(NOTHING_WRONG);
      expect((await stage.coverageOf(marks)).levels).toEqual(['none']);
    });

    it.each(['newest-first', 'oldest-first'] as const)(
      'a backfill of proven blocks, %s, stores none of it',
      async (order) => {
        const stage = await open(kind);
        stage.misroute(0.4);
        await fill(stage, 'receipts', order);
        expect(await stage.wrongMarks(RANGE.from, RANGE.to)).toEqual(NOTHING_WRONG);
        expect((await stage.coverageOf(marks)).levels).toEqual(['receipts']);
      },
    );

    it('a verification changes no right row', async () => {
      const stage = await open(kind);
      await fill(stage, 'receipts');
      stage.misroute(0.4);
      const options = { ...stage, proof: 'strict', backfillProof: 'none' } as const;
      const verifying = verifyRanges(options, [{ from: 5, to: 30 }], NEVER).then(({ levels }) => levels);
      // The node may be on the other chain whenever it is asked.
      const levels = await verifying.catch((error: { readonly code: string }) => error.code);
      expect([{ receipts: 26 }, 'OTHER_CHAIN', 'UNPROVEN_BLOCK']).toContainEqual(levels);
      expect(await stage.wrongMarks(RANGE.from, RANGE.to)).toEqual(NOTHING_WRONG);
    });
  },
);

describe('with a single upstream', () => {
  it('the prover changes nothing while it is on the other chain, and it is excluded by name', async () => {
    const stage = await open();
    await fill(stage, 'none');
    stage.misroute(1);
    await prove(proverOf(stage, { pool: stage.misroutedPool }), NEVER);
    expect(await stage.wrongMarks(RANGE.from, RANGE.to)).toEqual(NOTHING_WRONG);
    expect((await stage.coverageOf(marks)).levels).toEqual(['none']);
    const [status] = stage.misroutedPool.status();
    expect(status).toMatchObject({ state: 'disabled', reason: expect.stringContaining('another chain') });
    expect(status?.faults['wrong-chain']).toBeGreaterThan(0);
  });

  it('a chunk that nothing links yet is a record, and proven once the block above it is stored', async () => {
    const stage = await open();
    const own = { ...stage, pool: stage.misroutedPool };
    await fill(own, 'receipts', 'newest-first', { from: 1, to: 20 });
    expect((await stage.coverageOf(marks)).levels).toEqual(['record']);
    await fill(own, 'receipts', 'newest-first', { from: 31, to: BLOCKS });
    expect((await stage.coverageOf(marks)).levels).toEqual(['receipts', 'record']);
    await fill(own, 'receipts', 'newest-first', { from: 21, to: 30 });
    expect(await stage.coverageOf(marks)).toEqual({ ranges: [RANGE], levels: ['receipts'] });
  });

  it('the prover replaces a record of another chain once it reaches it', async () => {
    const stage = await open();
    const own = { ...stage, pool: stage.misroutedPool };
    stage.misroute(1);
    await fill(own, 'receipts', 'newest-first', { from: 1, to: 20 });
    expect((await stage.wrongMarks(1, 20)).foreign).toBeGreaterThan(0);
    stage.misroute(0);
    await fill(own, 'receipts', 'newest-first', { from: 21, to: BLOCKS });
    expect((await stage.coverageOf(marks)).levels).toEqual(['receipts', 'record']);
    await prove(proverOf(stage, { pool: stage.misroutedPool }), NEVER);
    expect(await stage.coverageOf(marks)).toEqual({ ranges: [RANGE], levels: ['receipts'] });
    expect(await stage.wrongMarks(RANGE.from, RANGE.to)).toEqual(NOTHING_WRONG);
  });

  it('alternates between the chains: rows that nothing links stay a record, and none of the other chain is proven', async () => {
    const stage = await open();
    const own = { ...stage, pool: stage.misroutedPool };
    stage.misroute(1);
    await fill(own, 'receipts', 'newest-first', { from: 11, to: 20 });
    stage.misroute(0);
    await fill(own, 'receipts', 'newest-first', { from: 21, to: 30 });
    expect((await stage.coverageOf(marks)).levels).toEqual(['record']);
    // The other chain's blocks don't link to those above them.
    await fill(own, 'receipts', 'newest-first', { from: 31, to: BLOCKS });
    await fill(own, 'receipts', 'newest-first', { from: 1, to: 10 });
    const proven = { from: 21, to: BLOCKS };
    expect(await stage.wrongMarks(proven.from, proven.to)).toMatchObject({ missing: 0 });
    expect(await provenOf(stage)).toEqual([proven]);
    stage.misroute(1);
    await prove(proverOf(stage, { pool: stage.misroutedPool }), NEVER);
    expect(await provenOf(stage)).toEqual([proven]);
    expect((await stage.coverageOf(marks)).levels).toEqual(['receipts', 'record']);
    stage.misroute(0);
    await prove(proverOf(stage), NEVER);
    expect(await provenOf(stage)).toEqual([RANGE]);
    expect(await stage.wrongMarks(RANGE.from, RANGE.to)).toEqual(NOTHING_WRONG);
  });
});

async function provenOf({ chain, database }: TwoChainsStage): Promise<readonly BlockRange[]> {
  const coverage = await listCoverage(database, chain.id);
  return mergeRanges(coverage.filter(({ proof }) => proof === 'receipts').map(({ range }) => range));
}

import { type Clock, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { BlockTooLargeError } from '@chainstead/rpc';
import { type BlockSource, createHistorySources } from '@chainstead/sources';
import { openPortalSource } from '@chainstead/sources/open';
import { type FaultSettings, type SourceFaultSettings, servePortal } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { backfill } from '../backfill/backfill.ts';
import { createClaimOwner } from '../coverage/claims.ts';
import { listCoverage } from '../coverage/coverage.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import { createWholeBlockTables, outcomes } from '../testing/whole-block-datasets.ts';
import { type ProverOptions, prove } from './prover.ts';

const BLOCKS = 70;
const RANGE = { from: 1, to: BLOCKS };
const never = new AbortController().signal;
const scratch = scratchOfFile();
let nextChainId = 970_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createWholeBlockTables(scratch.database);
});

/** Opens a chain backfilled from filtered logs. */
async function openFilled(faults: Partial<FaultSettings> = {}): Promise<ScriptedStage> {
  const datasets = [marks, outcomes] as readonly Dataset[];
  const stage = await openScriptedStage(scratch.database, nextChainId++, datasets, { blocks: BLOCKS, faults });
  onTestFinished(() => stage.close());
  await backfill({ ...stage, order: 'newest-first', proof: 'none', kind: 'add' }, [RANGE], never);
  expect((await stage.coverageOf(marks)).levels).toEqual(['none']);
  stage.node.counters.reset();
  return stage;
}

/** Options with which the prover ends after one round. */
const optionsOf = (stage: ScriptedStage, changes: Partial<ProverOptions> = {}): ProverOptions => ({
  ...stage,
  rate: 10_000,
  isBehind: () => false,
  isFilling: () => false,
  onRate: () => undefined,
  idleMs: 1,
  finished: () => true,
  ...changes,
});

const faultsOf = ({ chain }: ScriptedStage) =>
  scratch.database.query<{ kind: string; blockNumber: number }>(
    sql`SELECT kind, block_number FROM upstream_errors WHERE chain_id = ${chain.id}`,
  );

describe('the prover', () => {
  it('raises what was filled from filtered logs, reading each block once', async () => {
    const stage = await openFilled();
    await prove(optionsOf(stage), never);
    expect(await stage.coverageOf(marks)).toEqual({ ranges: [RANGE], levels: ['receipts'] });
    expect(stage.callsOf('eth_getBlockReceipts')).toBe(BLOCKS);
    expect(await faultsOf(stage)).toEqual([]);
    await prove(optionsOf(stage), never);
    expect(stage.callsOf('eth_getBlockReceipts')).toBe(BLOCKS);
  });

  it('puts back what an upstream left out, and writes down whose fault it was', async () => {
    const stage = await openFilled({ dropLogsRate: 0.3 });
    const before = await stage.marksOf(RANGE.from, RANGE.to);
    expect(before.stored).toBeLessThan(before.expected);
    await prove(optionsOf(stage), never);
    const after = await stage.marksOf(RANGE.from, RANGE.to);
    expect(after.stored).toBe(after.expected);
    expect(await misderived(scratch.database, stage.chain.id)).toEqual([]);
    const faults = await faultsOf(stage);
    expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(['missing-logs']));
    expect(faults.length).toBeGreaterThan(5);
  });

  // Invariant: PROOF-RECEIPTS-ROOT
  it('leaves blocks that nobody can prove for later, and the ones around them are proven', async () => {
    const stage = await openFilled();
    stage.node.faults.set({ dropReceiptLogsRate: 0.02 });
    await prove(optionsOf(stage), never);
    const { ranges, levels } = await stage.coverageOf(marks);
    expect(ranges).toEqual([RANGE]);
    expect(levels).toContain('none');
    stage.node.faults.clear();
    await prove(optionsOf(stage), never);
    expect((await stage.coverageOf(marks)).levels).toEqual(['receipts']);
  });

  it('tries again what was stored against its header, and less often while that proves nothing', async () => {
    const stage = await openFilled();
    await prove(optionsOf(stage), never);
    const { database } = scratch;
    const ofChain = sql`chain_id = ${stage.chain.id}`;
    await database.query(
      sql`UPDATE sync_ranges SET proof = 'unproven', proof_reason = 'root-mismatch' WHERE ${ofChain} AND dataset = 'marks'`,
    );
    await database.query(sql`DELETE FROM marks WHERE ${ofChain} AND block_number BETWEEN 30 AND 40`);
    stage.node.faults.set({ dropReceiptLogsRate: 1 });
    stage.node.counters.reset();
    await prove(optionsOf(stage, { policy: 'record' }), never);
    expect((await stage.coverageOf(marks)).levels).toContain('unproven');
    // One span; the next one is delayed.
    expect(stage.callsOf('eth_getBlockReceipts')).toBeLessThanOrEqual(64);
    stage.node.faults.clear();
    await prove(optionsOf(stage, { policy: 'record' }), never);
    expect(await stage.coverageOf(marks)).toEqual({ ranges: [RANGE], levels: ['receipts'] });
    const { stored, expected } = await stage.marksOf(RANGE.from, RANGE.to);
    expect(stored).toBe(expected);
  });

  it('proves a range with large blocks in parts, one large block at a time', async () => {
    const stage = await openFilled();
    const large = new Set<unknown>([30, 31, 50]);
    const pool: ProverOptions['pool'] = {
      ...stage.pool,
      async getWholeBlock(at, options) {
        const { bytesMax: bytes_max } = options ?? {};
        if (bytes_max === undefined || !large.has(at)) return stage.pool.getWholeBlock(at, options);
        throw new BlockTooLargeError({ chain: stage.chain.key, block: Number(at), bytes_max });
      },
    };
    await prove(optionsOf(stage, { pool }), never);
    expect(await stage.coverageOf(marks)).toEqual({ ranges: [RANGE], levels: ['receipts'] });
  });

  it('leaves a block above the limit of the pool for later, and proves older ones', async ({ signal }) => {
    const stage = await openFilled();
    let reads = 0;
    const pool: ProverOptions['pool'] = {
      ...stage.pool,
      async getWholeBlock(at, options) {
        if (at !== 60) return stage.pool.getWholeBlock(at, options);
        reads += 1;
        throw new BlockTooLargeError({ chain: stage.chain.key, block: at, bytes_max: 1 });
      },
    };
    await prove(optionsOf(stage, { pool }), signal);
    const left = await listCoverage(scratch.database, stage.chain.id);
    const ofMarks = left.filter(({ dataset }) => dataset === marks.name);
    expect(ofMarks.map(({ range, proof }) => [range.from, range.to, proof])).toEqual([
      [1, 59, 'receipts'],
      [60, 60, 'none'],
      [61, BLOCKS, 'receipts'],
    ]);
    expect(reads).toBeLessThan(10);
  });

  it('leaves blocks that another process works on to it', async () => {
    const stage = await openFilled();
    const other = await createClaimOwner(scratch.database);
    onTestFinished(() => other.close());
    const held = { from: 40, to: 44 };
    await other.claim(stage.chain.id, held, 'reindex');
    await prove(optionsOf(stage), never);
    expect((await stage.coverageOf(marks)).levels).toEqual(['none', 'receipts']);
    await other.release(stage.chain.id, held);
    await prove(optionsOf(stage), never);
    expect((await stage.coverageOf(marks)).levels).toEqual(['receipts']);
  });

  it('holds no blocks after it was stopped in the middle of them', async () => {
    const stage = await openFilled();
    const stop = new AbortController();
    // The turn of the second block does not come.
    const clock: Clock = { ...stage.clock, sleep: (_ms, signal) => systemClock.sleep(3_600_000, signal) };
    const proving = prove(optionsOf(stage, { rate: 1, clock }), stop.signal);
    await expect.poll(() => stage.callsOf('eth_getBlockReceipts')).toBeGreaterThan(0);
    stop.abort(new Error('stopped'));
    await expect(proving).rejects.toThrow('stopped');
    const other = await createClaimOwner(scratch.database);
    onTestFinished(() => other.close());
    expect(await other.claim(stage.chain.id, RANGE, 'reindex')).toBe(true);
  });

  it('reads nothing where it is turned off, and nothing of what is proven when it is read', async () => {
    const stage = await openFilled();
    await prove(optionsOf(stage, { rate: 0 }), never);
    await prove(optionsOf(stage, { datasets: [outcomes as Dataset] }), never);
    expect(stage.callsOf('eth_getBlockReceipts')).toBe(0);
    expect((await stage.coverageOf(outcomes)).levels).toEqual(['receipts']);
  });
});

/** Opens a chain whose filtered logs came from a Portal. */
async function openFilledByPortal(
  faults: Partial<SourceFaultSettings> = {},
  changed = (source: BlockSource): BlockSource => source,
) {
  const options = { blocks: BLOCKS, finalityDepth: 0, isSigned: true };
  const stage = await openScriptedStage(scratch.database, nextChainId++, [marks as Dataset], options);
  onTestFinished(() => stage.close());
  const portal = await servePortal(stage.scripted, { faults });
  onTestFinished(() => portal.close());
  const { chain, clock, logger } = stage;
  const source = changed(openPortalSource({ url: portal.url, chain, clock }));
  const sources = createHistorySources({ chain, clock, logger, sources: [source] });
  onTestFinished(() => sources.close());
  const filling = { ...stage, sources, order: 'newest-first', proof: 'none', kind: 'add' } as const;
  await backfill(filling, [RANGE], never);
  expect(await stage.coverageOf(marks)).toEqual({ ranges: [RANGE], levels: ['none'] });
  return { stage, sources, source };
}

describe('the prover of blocks from a source', () => {
  it('puts back the logs that it dropped, and leaves it alone for logs, by name', async () => {
    // Whole blocks have all logs: roots would show a lie.
    const tamper: SourceFaultSettings['tamper'] = (line) =>
      line.transactions === undefined ? { ...line, logs: [] } : line;
    const { stage, sources, source } = await openFilledByPortal({ tamper });
    expect((await stage.marksOf(RANGE.from, RANGE.to)).stored).toBe(0);
    await prove(optionsOf(stage, { sources }), never);
    const { stored, expected } = await stage.marksOf(RANGE.from, RANGE.to);
    expect(stored).toBe(expected);
    expect(await misderived(scratch.database, stage.chain.id)).toEqual([]);
    expect((await stage.coverageOf(marks)).levels).toEqual(['receipts']);
    const { logs, blocks } = sources.statuses()[0]?.uses ?? {};
    expect(logs).toMatchObject({ failures: 1, reason: expect.stringMatching(/too few/) });
    expect(logs?.reason).toContain(source.name);
    expect(blocks).toMatchObject({ blocks: BLOCKS, failures: 0 });
  });

  it('commits blocks of 20 MB two by two', async () => {
    const { stage, sources } = await openFilledByPortal({}, (source) => ({
      ...source,
      async *readBlocks(...wanted) {
        for await (const block of source.readBlocks(...wanted)) yield { ...block, bytes: 20_000_000 };
      },
    }));
    let commits = 0;
    const database: typeof stage.database = {
      ...stage.database,
      transaction(work) {
        commits += 1;
        return stage.database.transaction(work);
      },
    };
    await prove(optionsOf(stage, { sources, database }), never);
    expect((await stage.coverageOf(marks)).levels).toEqual(['receipts']);
    expect(commits).toBe(BLOCKS / 2);
    expect(sources.statuses()[0]?.uses.blocks.blocks).toBe(BLOCKS);
  });

  it.each([
    [10, (BLOCKS - 1) * 100],
    ['auto', 0],
  ] as const)('reads at the rate %s for %i ms', async (rate, expected) => {
    const { stage, sources } = await openFilledByPortal();
    let now = 0;
    const clock: Clock = {
      now: () => now,
      sleep: async (ms) => {
        now += ms;
      },
    };
    await prove(optionsOf(stage, { sources, rate, clock }), never);
    expect((await stage.coverageOf(marks)).levels).toEqual(['receipts']);
    expect(Math.round(now)).toBe(expected);
    expect(sources.statuses()[0]?.uses.blocks.blocks).toBe(BLOCKS);
  });
});

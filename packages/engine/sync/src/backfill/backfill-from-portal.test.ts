import { sql } from '@chainstead/db';
import { createHistorySources, type HistorySources } from '@chainstead/sources';
import { openPortalSource } from '@chainstead/sources/open';
import { type SourceFaultSettings, type SourceServer, servePortal } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { listCoverage, rangesFromSource } from '../coverage/coverage.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import {
  createWholeBlockTables,
  expectedOutcomes,
  outcomes,
  storedOutcomes,
} from '../testing/whole-block-datasets.ts';
import { backfill } from './backfill.ts';
import type { BackfillOptions } from './backfill-options.ts';

const PROVABLE = [outcomes, marks] as readonly Dataset[];
const BLOCKS = 90;
const REORG_DEPTH = 8;
const RANGE = { from: 1, to: BLOCKS };
const never = new AbortController().signal;
const scratch = scratchOfFile();
let nextChainId = 961_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createWholeBlockTables(scratch.database);
});

interface SourceStage {
  readonly stage: ScriptedStage;
  readonly portal: SourceServer;
  readonly sources: HistorySources;
}

async function openStage(faults: Partial<SourceFaultSettings> = {}): Promise<SourceStage> {
  const stage = await openScriptedStage(scratch.database, nextChainId++, PROVABLE, {
    ...{ blocks: BLOCKS, finalityDepth: 0, isSigned: true },
  });
  onTestFinished(() => stage.close());
  const portal = await servePortal(stage.scripted, { faults });
  onTestFinished(() => portal.close());
  const { chain, clock, logger } = stage;
  const sources = createHistorySources({
    ...{ chain, clock, logger },
    sources: [openPortalSource({ url: portal.url, chain, clock })],
  });
  onTestFinished(() => sources.close());
  return { stage, portal, sources };
}

const optionsOf = ({ stage, sources }: SourceStage, changes: Partial<BackfillOptions> = {}): BackfillOptions => ({
  ...stage,
  ...{ sources, order: 'newest-first', proof: 'receipts', kind: 'add' },
  ...changes,
});

async function expectTruth({ stage }: SourceStage, datasets: readonly Dataset[] = PROVABLE): Promise<void> {
  const { chain, scripted, database } = stage;
  const { stored, expected } = await stage.marksOf(RANGE.from, RANGE.to);
  expect(stored).toBe(expected);
  if (datasets.includes(outcomes as Dataset))
    expect(await storedOutcomes(database, chain.id)).toEqual(expectedOutcomes(scripted, RANGE));
  expect(await misderived(database, chain.id)).toEqual([]);
  for (const dataset of datasets) expect((await stage.coverageOf(dataset)).ranges).toEqual([RANGE]);
}

describe('a backfill with a Portal', () => {
  it.each(['newest-first', 'oldest-first'] as const)('proves whole blocks of it, %s', async (order) => {
    const own = await openStage();
    await backfill(optionsOf(own, { order }), [RANGE], never);
    await expectTruth(own);
    for (const dataset of PROVABLE) expect((await own.stage.coverageOf(dataset)).levels).toEqual(['receipts']);
    // The pool's own check of the node.
    expect(own.stage.callsOf('eth_getBlockReceipts')).toBeLessThanOrEqual(1);
    expect(own.sources.statuses()[0]?.uses.blocks).toEqual({
      blocks: BLOCKS,
      failures: 0,
      reason: null,
      until: null,
    });
  });

  it('reads filtered logs of it, which nothing proves', async () => {
    const own = await openStage();
    const datasets = [marks] as readonly Dataset[];
    await backfill(optionsOf(own, { datasets, proof: 'none' }), [RANGE], never);
    await expectTruth(own, datasets);
    expect((await own.stage.coverageOf(marks)).levels).toEqual(['none']);
    expect(own.stage.callsOf('eth_getLogs')).toBe(0);
    expect(own.sources.statuses()[0]?.uses.logs.blocks).toBe(BLOCKS);
  });

  it('reads what it lacks at the end from nodes, and names it in the coverage of its blocks', async () => {
    const own = await openStage({ servedTo: 50, pageBlocks: 7 });
    await backfill(optionsOf(own, { order: 'oldest-first' }), [RANGE], never);
    await expectTruth(own);
    const coverage = await listCoverage(own.stage.database, own.stage.chain.id);
    const [{ name = '' } = {}] = own.sources.statuses();
    expect(rangesFromSource(coverage, name)).toEqual([{ from: 1, to: 50 }]);
    expect(new Set(coverage.map(({ upstream }) => upstream))).toEqual(new Set([name, null]));
    expect(coverage).toHaveLength(2 * PROVABLE.length);
    expect(own.stage.callsOf('eth_getBlockReceipts')).toBeLessThanOrEqual(BLOCKS - 50 + 5);
  });

  it('puts what it reads anew in the place of what was there', async () => {
    const own = await openStage({ servedTo: 50 });
    await backfill(optionsOf(own), [RANGE], never);
    await backfill(optionsOf(own, { kind: 'replace', order: 'oldest-first' }), [RANGE], never);
    await expectTruth(own);
  });
});

describe('a backfill with a Portal that fails', () => {
  it('and a database that loses transactions, ends with all rows', async () => {
    const own = await openStage({ pageBlocks: 10, cut: { rate: 0.3, afterLines: 4, where: 'connection' } });
    let transactions = 0;
    const database: typeof own.stage.database = {
      ...own.stage.database,
      transaction: (work) =>
        own.stage.database.transaction(async (transaction) => {
          const result = await work(transaction);
          transactions += 1;
          if (transactions % 3 === 0) throw new Error('The connection was lost before the commit');
          return result;
        }),
    };
    await backfill(optionsOf(own, { database }), [RANGE], never);
    await expectTruth(own);
    const claims = await own.stage.database.query(
      sql`SELECT * FROM sync_claims WHERE chain_id = ${own.stage.chain.id}`,
    );
    expect(claims).toEqual([]);
  });

  it('is exchanged for another one, after a stop in the middle', async () => {
    const own = await openStage();
    const stop = new AbortController();
    const database: typeof own.stage.database = {
      ...own.stage.database,
      transaction: (work) =>
        own.stage.database.transaction(work).finally(() => stop.abort(new Error('The process ends'))),
    };
    await expect(backfill(optionsOf(own, { database }), [RANGE], stop.signal)).rejects.toThrow(
      'The process ends',
    );
    const other = await servePortal(own.stage.scripted, { faults: { pageBlocks: 9 } });
    onTestFinished(() => other.close());
    const { chain, clock, logger } = own.stage;
    const sources = createHistorySources({
      ...{ chain, clock, logger },
      sources: [openPortalSource({ url: other.url, chain, clock })],
    });
    onTestFinished(() => sources.close());
    await backfill(optionsOf({ ...own, sources }), [RANGE], never);
    await expectTruth(own);
  });
});

it.each([
  ['after its blocks were read', 'live'],
  ['at their border, which it does not know', 'stale'],
] as const)(
  'a chain is followed by nodes above a Portal, through a reorg %s, and the prover reads it',
  async (_name, view) => {
    const stage = await openScriptedStage(scratch.database, nextChainId++, PROVABLE, {
      ...{ blocks: BLOCKS, finalityDepth: REORG_DEPTH, isSigned: true, firstFollowed: null },
      facts: { pollIntervalMs: 10, reorgDepthMax: REORG_DEPTH },
    });
    onTestFinished(() => stage.close());
    const { chain, clock, logger, scripted } = stage;
    const before = new Map(scripted.blocksIn({ from: 0, to: BLOCKS }).map((block) => [block.number, block]));
    // It holds its newest block for final.
    const stale = {
      ...scripted,
      firstBlock: 0,
      head: BLOCKS,
      finalized: BLOCKS,
      blockAt: (at: number) => before.get(at),
    };
    const portal = await servePortal(view === 'stale' ? stale : scripted);
    onTestFinished(() => portal.close());
    const sources = createHistorySources({
      ...{ chain, clock, logger },
      sources: [openPortalSource({ url: portal.url, chain, clock })],
    });
    onTestFinished(() => sources.close());
    stage.sync([marks as Dataset], undefined, sources);
    if (view === 'live') await stage.untilCovered(marks, BLOCKS);
    scripted.reorg(REORG_DEPTH - 1, REORG_DEPTH + 1);
    await stage.untilCovered(marks);
    await expect
      .poll(async () => (await stage.coverageOf(marks)).levels, { timeout: 20_000 })
      .toEqual(['receipts']);
    const { stored, expected } = await stage.marksOf(1, scripted.head);
    expect(stored).toBe(expected);
    const uses = sources.statuses()[0]?.uses;
    expect(uses?.logs.blocks).toBeGreaterThan(0);
    expect(uses?.blocks.blocks).toBeGreaterThan(0);
  },
);

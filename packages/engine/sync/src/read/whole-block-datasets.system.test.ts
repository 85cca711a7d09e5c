import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Dataset } from '../dataset/dataset.ts';
import { backfillRanges, reindexRanges, verifyRanges } from '../range-jobs/range-commands.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import {
  createWholeBlockTables,
  expectedOutcomes,
  expectedPayments,
  outcomes,
  payments,
  storedOutcomes,
  storedPayments,
} from '../testing/whole-block-datasets.ts';

const ALL = [marks, outcomes, payments] as readonly Dataset[];
const REORG_DEPTH_MAX = 8;
const never = new AbortController().signal;
const scratch = scratchOfFile();
let nextChainId = 920_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createWholeBlockTables(scratch.database);
});

interface Stage extends ScriptedStage {
  /** Number of requests for blocks with transaction objects. */
  fullBlocks(): number;
  /** Node features that the test switches on and off. */
  readonly has: { traces: boolean };
}

async function openStage(blocks: number, upstreams = 1): Promise<Stage> {
  const has = { traces: true };
  let fullBlocks = 0;
  const stage = await openScriptedStage(scratch.database, nextChainId++, ALL, {
    blocks,
    facts: { pollIntervalMs: 20, reorgDepthMax: REORG_DEPTH_MAX },
    firstFollowed: null,
    upstreams,
    answer: (method, params, own) => {
      if (method.startsWith('eth_getBlockBy') && params[1] === true) fullBlocks += 1;
      return has.traces || !method.startsWith('debug_')
        ? own(params)
        : { error: { code: -32601, message: `the method ${method} does not exist/is not available` } };
    },
  });
  onTestFinished(() => stage.close());
  return { ...stage, has, fullBlocks: () => fullBlocks };
}

async function expectTruth({ chain, scripted }: Stage, to = scripted.head): Promise<void> {
  const range = { from: 1, to };
  const within = (row: string) => Number(row.split(' ')[0]) <= to;
  expect((await storedOutcomes(scratch.database, chain.id)).filter(within)).toEqual(
    expectedOutcomes(scripted, range),
  );
  expect((await storedPayments(scratch.database, chain.id)).filter(within)).toEqual(
    expectedPayments(scripted, range),
  );
}

describe('datasets of transactions and of traces', () => {
  it('are filled in when they are added later, and what is there is not read again', async () => {
    const stage = await openStage(40);
    const first = stage.sync([marks as Dataset]);
    await stage.untilCovered(marks);
    await first.stop();
    expect(stage.callsOf('debug_traceBlockByHash')).toBe(0);
    stage.node.counters.reset();
    await scratch.database.query(
      sql`UPDATE sync_ranges SET proof = 'receipts' WHERE chain_id = ${stage.chain.id}`,
    );

    const second = stage.sync(ALL);
    await vi.waitFor(
      async () => {
        for (const dataset of ALL.slice(1))
          expect((await stage.coverageOf(dataset)).ranges.at(0)).toEqual({ from: 1, to: 40 - REORG_DEPTH_MAX });
      },
      { timeout: 30_000, interval: 30 },
    );
    await second.stop();
    await expectTruth(stage, 40 - REORG_DEPTH_MAX);
    expect(stage.callsOf('eth_getLogs')).toBe(0);
  });

  it('cost nothing where there are none: of blocks no transaction objects and no traces are asked for', async () => {
    const stage = await openStage(40);
    stage.sync([marks as Dataset]);
    await stage.untilCovered(marks);
    stage.scripted.mine(5);
    stage.scripted.reorg(2, 4);
    await stage.untilCovered(marks);
    expect(stage.fullBlocks()).toBe(0);
    expect(stage.callsOf('debug_traceBlockByHash') + stage.callsOf('trace_block')).toBe(0);
    expect(await storedOutcomes(scratch.database, stage.chain.id)).toEqual([]);
  });

  it('of traces lack blocks that no node can trace, while the others go on, and come to them once one can', async () => {
    const stage = await openStage(30);
    stage.has.traces = false;
    stage.sync(ALL);
    await stage.untilCovered(marks);
    await stage.untilCovered(outcomes);
    stage.scripted.mine(12);
    await stage.untilCovered(marks);
    await stage.untilCovered(outcomes);
    // Blocks without transactions need no traces.
    const traced = (await stage.coverageOf(payments)).ranges.reduce(
      (sum, { from, to }) => sum + to - from + 1,
      0,
    );
    expect(traced).toBeLessThan(15);
    expect(await storedPayments(scratch.database, stage.chain.id)).toEqual([]);
    stage.has.traces = true;
    await vi.waitFor(
      async () => {
        // Only settled blocks are filled, so the chain must advance.
        stage.scripted.mine(1);
        await stage.untilCovered(marks);
        expect((await stage.coverageOf(payments)).ranges).toEqual([{ from: 1, to: stage.scripted.head }]);
      },
      { timeout: 25_000, interval: 200 },
    );
    await expectTruth(stage);
  });

  it('are backfilled, redone and verified by command, which says what nobody could read', async () => {
    const stage = await openStage(40, 2);
    const options = { ...stage, proof: 'strict', backfillProof: 'none' } as const;
    const range = { from: 1, to: 30 };
    stage.has.traces = false;
    await expect(backfillRanges(options, [range], never)).rejects.toMatchObject({
      code: 'BLOCK_PART_UNAVAILABLE',
    });
    expect((await stage.coverageOf(outcomes)).ranges).toEqual([range]);
    stage.has.traces = true;
    await backfillRanges(options, [range], never);
    await expectTruth(stage, range.to);

    await scratch.database.query(
      sql`UPDATE outcomes SET gas_used = gas_used + 1 WHERE chain_id = ${stage.chain.id} AND block_number < 10`,
    );
    await scratch.database.query(
      sql`DELETE FROM payments WHERE chain_id = ${stage.chain.id} AND block_number < 20`,
    );
    const report = await verifyRanges(options, [range], never);
    expect(new Set(report.repairs.map(({ dataset }) => dataset))).toEqual(new Set(['outcomes', 'payments']));
    expect(report.uncovered).toEqual([]);
    await expectTruth(stage, range.to);

    await scratch.database.query(sql`DELETE FROM outcomes WHERE chain_id = ${stage.chain.id}`);
    stage.has.traces = false;
    await expect(reindexRanges(options, [range], never)).rejects.toMatchObject({
      code: 'BLOCK_PART_UNAVAILABLE',
    });
    await expectTruth(stage, range.to);
  });
});

import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Clock, createMetricsRegistry, mergeRanges, silentLogger, systemClock } from '@chainstead/core';
import { createUpstreamPool, type UpstreamPool } from '@chainstead/rpc';
import {
  type ChainNode,
  createScratchDatabase,
  createScriptedChain,
  type ScratchDatabase,
  type ScriptedChain,
  serveScriptedChain,
  traceMethods,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createChainSync } from './chain-sync.ts';
import type { ChainSyncSettings } from './chain-sync-options.ts';
import { listCoverage } from './coverage.ts';
import type { Dataset } from './dataset.ts';
import { backfillRanges, reindexRanges, verifyRanges } from './range-commands.ts';
import { createSyncMetrics } from './sync-metrics.ts';
import { createMarkTables, marks } from './testing/marks-dataset.ts';
import {
  createWholeBlockTables,
  expectedOutcomes,
  expectedPayments,
  outcomes,
  payments,
  storedOutcomes,
  storedPayments,
} from './testing/whole-block-datasets.ts';

const ALL = [marks, outcomes, payments] as readonly Dataset[];
const REORG_DEPTH_MAX = 8;
const SETTINGS: ChainSyncSettings = {
  startBlock: 1,
  endBlock: null,
  proof: 'strict',
  backfillProof: 'none',
  backfillOrder: 'newest-first',
  proverRate: 1_000,
};
const never = new AbortController().signal;
const registry = createMetricsRegistry();
const metrics = createSyncMetrics(registry);
/** Waits a hundredth of what it is told to. */
const clock: Clock = { now: () => Date.now() * 100, sleep: (ms, signal) => systemClock.sleep(ms / 100, signal) };

let scratch: ScratchDatabase;
let nextChainId = 920_001;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  await createMarkTables(scratch.database);
  await createWholeBlockTables(scratch.database);
});
afterAll(() => scratch.drop());

interface Stage {
  readonly chain: Chain;
  readonly scripted: ScriptedChain;
  readonly node: ChainNode;
  readonly pool: UpstreamPool;
  /** How often blocks were asked for with transaction objects. */
  fullBlocks(): number;
  /** What a node's owner switches on and off. */
  readonly has: { traces: boolean };
  ingest(datasets: readonly Dataset[]): { stop(): Promise<void> };
  coveredBy(dataset: Dataset): Promise<readonly { readonly from: number; readonly to: number }[]>;
  untilCovered(dataset: Dataset, to?: number): Promise<void>;
}

/** A chain of its own in the database, and one node. */
async function openStage(blocks: number): Promise<Stage> {
  const chainId = nextChainId++;
  const chain = createChainRegistry({
    additional: [
      {
        key: `whole-${chainId}`,
        id: chainId,
        pollIntervalMs: 20,
        reorgDepthMax: REORG_DEPTH_MAX,
        headerHash: true,
        proofPolicy: 'strict',
      },
    ],
  }).get(chainId);
  const scripted = createScriptedChain({ seed: chainId, chainId, wallets: 20, creationShare: 0.2 });
  scripted.mine(blocks);
  const has = { traces: true };
  let fullBlocks = 0;
  const node = await serveScriptedChain(scripted, {
    methods: (view, own) =>
      new Map(
        [...own, ...traceMethods(view)].map(([method, handler]) => [
          method,
          (params) => {
            if (method.startsWith('eth_getBlockBy') && params[1] === true) fullBlocks += 1;
            return has.traces || !method.startsWith('debug_')
              ? handler(params)
              : { error: { code: -32601, message: `the method ${method} does not exist/is not available` } };
          },
        ]),
      ),
  });
  const upstreams = [{ url: node.url }];
  const pool = createUpstreamPool({ chain, upstreams, logger: silentLogger(), metrics: createMetricsRegistry() });
  await pool.start();
  onTestFinished(async () => {
    await pool.close();
    await node.close();
  });
  const coveredBy = async (dataset: Dataset) => {
    const own = (await listCoverage(scratch.database, chain.id)).filter((one) => one.dataset === dataset.name);
    return mergeRanges(own.map(({ range }) => range));
  };
  return {
    chain,
    scripted,
    node,
    pool,
    has,
    fullBlocks: () => fullBlocks,
    ingest: (datasets) => {
      const shared = { chain, pool, database: scratch.database, logger: silentLogger(), metrics, clock };
      const abort = new AbortController();
      const finished = createChainSync({ ...shared, datasets, settings: SETTINGS }).run(abort.signal);
      const stop = async () => {
        abort.abort();
        await finished;
      };
      onTestFinished(stop);
      return { stop };
    },
    coveredBy,
    untilCovered: (dataset, to = scripted.head) =>
      vi.waitFor(async () => expect(await coveredBy(dataset)).toEqual([{ from: 1, to }]), {
        timeout: 30_000,
        interval: 30,
      }),
  };
}

async function expectTruth({ chain, scripted }: Stage, to = scripted.head): Promise<void> {
  const range = { from: 1, to };
  const within = (row: string) => Number(row.split(' ')[0]) <= to;
  expect((await storedOutcomes(scratch.database, chain.id)).filter(within)).toEqual(expectedOutcomes(scripted, range));
  expect((await storedPayments(scratch.database, chain.id)).filter(within)).toEqual(expectedPayments(scripted, range));
}

const callsOf = ({ node }: Stage, method: string): number => node.counters.snapshot().calls[method] ?? 0;

describe('datasets of transactions and of traces', () => {
  it('hold what every block caused: of history, at the head and after reorganisations', async () => {
    const stage = await openStage(60);
    stage.ingest(ALL);
    for (const dataset of ALL) await stage.untilCovered(dataset);
    await expectTruth(stage);
    expect(expectedOutcomes(stage.scripted, { from: 1, to: 60 }).some((row) => !row.includes('none'))).toBe(true);
    expect(expectedPayments(stage.scripted, { from: 1, to: 60 }).length).toBeGreaterThan(20);
    for (const depth of [1, REORG_DEPTH_MAX - 1, 3]) {
      stage.scripted.reorg(depth, depth + 2);
      const tip = stage.scripted.blockAt(stage.scripted.head)?.hash ?? '';
      await vi.waitFor(async () => {
        const [row] = await scratch.database.query<{ tip: string }>(
          `SELECT '0x' || encode(checkpoint_hash, 'hex') AS tip FROM sync_chains WHERE chain_id = $1`,
          [stage.chain.id],
        );
        expect(row?.tip).toBe(tip);
      });
      for (const dataset of ALL) await stage.untilCovered(dataset);
      await expectTruth(stage);
    }
    const levels = new Map(
      (await listCoverage(scratch.database, stage.chain.id)).map((one) => [one.dataset, one.proof]),
    );
    expect(levels.get('outcomes')).toBe('receipts');
    expect(levels.get('payments')).toBe('not-applicable');
  });

  it('are filled in when they are added later, and what is there is not read again', async () => {
    const stage = await openStage(40);
    const first = stage.ingest([marks as Dataset]);
    await stage.untilCovered(marks as Dataset);
    await first.stop();
    expect(callsOf(stage, 'debug_traceBlockByHash')).toBe(0);
    stage.node.counters.reset();
    await scratch.database.query("UPDATE sync_ranges SET proof = 'receipts' WHERE chain_id = $1", [stage.chain.id]);

    const second = stage.ingest(ALL);
    await vi.waitFor(
      async () => {
        for (const dataset of ALL.slice(1))
          expect((await stage.coveredBy(dataset)).at(0)).toEqual({ from: 1, to: 40 - REORG_DEPTH_MAX });
      },
      { timeout: 30_000, interval: 30 },
    );
    await second.stop();
    await expectTruth(stage, 40 - REORG_DEPTH_MAX);
    expect(callsOf(stage, 'eth_getLogs')).toBe(0);
  });

  it('cost nothing where there are none: of blocks no transaction objects and no traces are asked for', async () => {
    const stage = await openStage(40);
    stage.ingest([marks as Dataset]);
    await stage.untilCovered(marks as Dataset);
    stage.scripted.mine(5);
    stage.scripted.reorg(2, 4);
    await stage.untilCovered(marks as Dataset);
    expect(stage.fullBlocks()).toBe(0);
    expect(callsOf(stage, 'debug_traceBlockByHash') + callsOf(stage, 'trace_block')).toBe(0);
    expect(await storedOutcomes(scratch.database, stage.chain.id)).toEqual([]);
  });

  it('of traces lack blocks that no node can trace, while the others go on, and come to them once one can', async () => {
    const stage = await openStage(30);
    stage.has.traces = false;
    stage.ingest(ALL);
    await stage.untilCovered(marks as Dataset);
    await stage.untilCovered(outcomes as Dataset);
    stage.scripted.mine(12);
    await stage.untilCovered(marks as Dataset);
    await stage.untilCovered(outcomes as Dataset);
    // Blocks without transactions need no traces.
    const traced = (await stage.coveredBy(payments as Dataset)).reduce((sum, { from, to }) => sum + to - from + 1, 0);
    expect(traced).toBeLessThan(15);
    expect(await storedPayments(scratch.database, stage.chain.id)).toEqual([]);
    stage.has.traces = true;
    await vi.waitFor(
      async () => {
        // Blocks are filled in once they have settled, for which the chain has to go on.
        stage.scripted.mine(1);
        await stage.untilCovered(marks as Dataset);
        expect(await stage.coveredBy(payments as Dataset)).toEqual([{ from: 1, to: stage.scripted.head }]);
      },
      { timeout: 25_000, interval: 200 },
    );
    await expectTruth(stage);
  });

  it('are backfilled, redone and verified by command, which says what nobody could read', async () => {
    const stage = await openStage(40);
    const options = {
      ...stage,
      database: scratch.database,
      logger: silentLogger(),
      metrics,
      clock,
      datasets: ALL,
      proof: 'strict' as const,
      backfillProof: 'none' as const,
    };
    const range = { from: 1, to: 30 };
    stage.has.traces = false;
    await expect(backfillRanges(options, [range], never)).rejects.toMatchObject({ code: 'BLOCK_PART_UNAVAILABLE' });
    expect(await stage.coveredBy(outcomes as Dataset)).toEqual([range]);
    stage.has.traces = true;
    await backfillRanges(options, [range], never);
    await expectTruth(stage, range.to);

    await scratch.database.query(
      'UPDATE outcomes SET gas_used = gas_used + 1 WHERE chain_id = $1 AND block_number < 10',
      [stage.chain.id],
    );
    await scratch.database.query('DELETE FROM payments WHERE chain_id = $1 AND block_number < 20', [stage.chain.id]);
    const report = await verifyRanges(options, [range], never);
    expect(new Set(report.repairs.map(({ dataset }) => dataset))).toEqual(new Set(['outcomes', 'payments']));
    expect(report.uncovered).toEqual([]);
    await expectTruth(stage, range.to);

    await scratch.database.query('DELETE FROM outcomes WHERE chain_id = $1', [stage.chain.id]);
    stage.has.traces = false;
    await expect(reindexRanges(options, [range], never)).rejects.toMatchObject({ code: 'BLOCK_PART_UNAVAILABLE' });
    await expectTruth(stage, range.to);
  });
});

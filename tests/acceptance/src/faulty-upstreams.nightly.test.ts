/** One test for each fault of nodes: the final tables are correct, and the fault is counted. */

import { sql } from '@chainstead/db';
import { type FaultKind, NoUpstreamError } from '@chainstead/rpc';
import type { PoolLimits } from '@chainstead/rpc/pool';
import { readChainStatuses } from '@chainstead/sync/ingest';
import { type ChainNode, createScriptedChain, type FaultSettings } from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { describe } from 'vitest';
import {
  countFaults,
  headByMetric,
  type Indexer,
  type IndexerOptions,
  SCRIPTED_CHAIN_ID,
  scriptedChainFacts,
  startPool,
  upstreamName,
  waitUntil,
} from './indexed-chain.ts';
import { commonCoverage, expectTruth, untilIndexed } from './indexed-tables.ts';
import { STAGE_BLOCKS, type Stage, stagedTest } from './stage.ts';

/** Indexes and proves everything while the chain continues, and compares the tables with the script. */
async function indexToTheTruth(
  stage: Stage,
  nodes: readonly ChainNode[],
  options: Partial<IndexerOptions> = {},
): Promise<Indexer> {
  const { scratch, chain } = stage;
  const facts = options.chain ?? stage.facts;
  const indexer = await stage.index(nodes, options);
  await untilIndexed(scratch.database, facts, chain);
  for (let block = 0; block < 5; block++) {
    chain.mine();
    await untilIndexed(scratch.database, facts, chain);
  }
  await untilIndexed(scratch.database, facts, chain, { proven: true });
  await expectTruth(scratch.database, facts, chain);
  return indexer;
}

/** What is expected of one faulty upstream. */
interface Case {
  readonly name: string;
  readonly faults: Partial<FaultSettings>;
  /** Whether there is also an honest upstream. */
  readonly honest: boolean;
  /** Kinds of which at least one must be counted. */
  readonly kinds: readonly FaultKind[];
  /** A small one leaves to the backfill what is near the head. */
  readonly reorgDepthMax?: number;
  readonly limits?: Partial<PoolLimits>;
}

const CASES: readonly Case[] = [
  {
    name: 'drops logs from receipts',
    faults: { dropReceiptLogsRate: 0.02 },
    honest: true,
    kinds: ['receipts-root-mismatch'],
  },
  {
    name: 'times out',
    faults: { hangRate: 0.3 },
    honest: true,
    kinds: ['timeout'],
    limits: { attemptTimeoutMs: 400, heavyTimeoutMs: 400 },
  },
  {
    name: 'answers [] beyond its head and hides where that is',
    faults: { lagBlocks: 60, headLieBlocks: 60, beyondHead: 'empty' },
    honest: true,
    kinds: ['head-lie', 'missing-block'],
    reorgDepthMax: 4,
  },
  {
    name: 'answers [] beyond its head and says where that is',
    faults: { lagBlocks: 60, beyondHead: 'empty' },
    honest: true,
    kinds: ['lagging'],
    reorgDepthMax: 4,
  },
  {
    name: 'answers [] for pruned history',
    faults: { prunedBelow: { block: 150, style: 'empty' } },
    honest: true,
    kinds: ['missing-logs'],
  },
  {
    name: 'refuses pruned history',
    faults: { prunedBelow: { block: 150, style: 'error' } },
    honest: true,
    kinds: ['missing-block', 'rpc-error'],
  },
  { name: 'answers with web pages', faults: { notJsonRate: 0.15 }, honest: false, kinds: ['not-json'] },
  {
    name: 'cuts its JSON',
    faults: { truncate: { rate: 0.15, style: 'json' } },
    honest: false,
    kinds: ['not-json', 'truncated', 'malformed'],
  },
  {
    name: 'cuts its connections',
    faults: { truncate: { rate: 0.15, style: 'connection' } },
    honest: false,
    kinds: ['connection', 'truncated'],
  },
  {
    name: 'answers 500 now and then',
    faults: { httpStatus: { rate: 0.15, status: 500, body: 'upstream connect error' } },
    honest: false,
    kinds: ['http-status'],
  },
  {
    name: 'answers nothing but 503',
    faults: { httpStatus: { rate: 1, status: 503 } },
    honest: true,
    kinds: ['http-status'],
  },
  { name: 'lags', faults: { lagBlocks: 7 }, honest: true, kinds: ['lagging'] },
  {
    name: 'announces blocks that do not exist',
    faults: { headLieBlocks: 40 },
    honest: true,
    kinds: ['head-lie'],
  },
  {
    name: 'announces blocks that do not exist and stands alone',
    faults: { headLieBlocks: 40 },
    honest: false,
    kinds: ['head-lie'],
  },
  {
    name: 'answers null for the head that it announced',
    faults: { nullForHead: true },
    honest: true,
    kinds: ['head-lie', 'missing-block'],
  },
];

describe.concurrent('an upstream that', () => {
  for (const { name, faults, honest, kinds, reorgDepthMax, limits } of CASES)
    stagedTest(`${name}: the tables are the truth, the fault is counted`, async ({ stage, expect }) => {
      const faulty = await stage.serve(faults);
      // A little slower, so that the faulty one is the better choice.
      const nodes = honest ? [faulty, await stage.serve({ latencyMs: 12 })] : [faulty];
      const chain = { ...stage.facts, ...(reorgDepthMax === undefined ? {} : { reorgDepthMax }) };
      const { registry } = await indexToTheTruth(stage, nodes, { chain, ...(limits && { limits }) });
      expect(await countFaults(registry, upstreamName(faulty.url), kinds)).toBeGreaterThan(0);
      if (kinds.includes('lagging'))
        await waitUntil(async () => {
          const shown = await headByMetric(registry, upstreamName(faulty.url));
          return shown === stage.chain.head - (faults.lagBlocks ?? 0) ? null : `its head is shown as ${shown}`;
        });
    });

  stagedTest(
    'drops 1 % of logs and stands alone: the prover repairs every block and names it',
    async ({ stage, expect }) => {
      const { chain, facts, scratch } = stage;
      const liar = await stage.serve({ dropLogsRate: 0.01 });
      const { registry, metrics } = await indexToTheTruth(stage, [liar]);
      const [state] = await readChainStatuses(scratch.database, datasets, [facts]);
      expect(state?.firstFollowed).toBe(STAGE_BLOCKS - facts.reorgDepthMax);
      // Only what the backfill read with eth_getLogs could be incomplete; each side of a transfer is a row.
      const missing = new Map<number, number>();
      for (const one of chain.expectedTransfers({ from: 1, to: (state?.firstFollowed ?? 0) - 1 }))
        if (liar.faults.drops('logs', one.blockHash, `0x${one.logIndex.toString(16)}`))
          missing.set(one.blockNumber, (missing.get(one.blockNumber) ?? 0) + (one.from === one.to ? 1 : 2));
      expect(missing.size).toBeGreaterThan(2);
      const named = await scratch.database.query<{ blockNumber: number; missing: number }>(
        sql`SELECT block_number, (facts->'datasets'->'erc20-transfers'->>'missing')::int AS missing FROM upstream_errors
          WHERE chain_id = ${facts.id} AND upstream = ${upstreamName(liar.url)} AND kind = 'missing-logs' AND facts->'datasets' ? 'erc20-transfers'
          ORDER BY block_number`,
      );
      expect(named.map((row) => [row.blockNumber, row.missing])).toEqual([...missing]);
      // A block is one fault, whichever datasets it shows in.
      const faults = await scratch.database.query(sql`SELECT 1 FROM upstream_errors`);
      expect(faults.length).toBeGreaterThanOrEqual(missing.size);
      expect(await countFaults(registry, upstreamName(liar.url), ['missing-logs'])).toBe(faults.length);
      expect(await metrics.proverRepairedBlocks.get()).toMatchObject({ values: [{ value: faults.length }] });
      expect(await commonCoverage(scratch.database, facts)).toEqual([
        {
          range: { from: 1, to: chain.head },
          proof: 'receipts',
          reason: null,
          upstream: null,
        },
      ]);
    },
  );

  stagedTest('drops 1 % of logs beside an honest one: only the liar is named', async ({ stage, expect }) => {
    const liar = await stage.serve({ dropLogsRate: 0.01 });
    await indexToTheTruth(stage, [liar, await stage.serve({ latencyMs: 12 })]);
    const named = await stage.scratch.database.query(sql`SELECT DISTINCT upstream FROM upstream_errors`);
    expect(named).toEqual([{ upstream: upstreamName(liar.url) }]);
  });

  stagedTest(
    'is on the wrong chain is refused by name, alone or beside an honest one',
    async ({ stage, expect }) => {
      const wrong = await stage.serve({ wrongChainId: 5 });
      const refused = startPool(stage.facts, [wrong.url]);
      await expect(refused).rejects.toBeInstanceOf(NoUpstreamError);
      await expect(refused).rejects.toThrow(
        new RegExp(`${upstreamName(wrong.url)}: .*wrong chain.*chain id 5, not ${SCRIPTED_CHAIN_ID}`),
      );
      const { registry } = await indexToTheTruth(stage, [wrong, await stage.serve()]);
      expect(await countFaults(registry, upstreamName(wrong.url), ['wrong-chain'])).toBeGreaterThan(0);
      await waitUntil(async () => {
        const [status] = await readChainStatuses(stage.scratch.database, datasets, [stage.facts]);
        const shown = status?.upstreams.find((upstream) => upstream.name === upstreamName(wrong.url));
        return shown?.state === 'disabled' && /wrong chain.*chain id 5/.test(shown.reason ?? '')
          ? null
          : `the status says ${JSON.stringify(shown)}`;
      });
      // Nothing but its chain id was ever believed.
      expect(Object.keys(wrong.counters.snapshot().calls)).toEqual(['eth_chainId']);
    },
  );

  stagedTest(
    'gives no head any more: status and metric say which call and which answer',
    async ({ stage, expect }) => {
      const { chain, facts, scratch } = stage;
      const node = await stage.serve();
      await (await indexToTheTruth(stage, [node])).stop();
      node.faults.set({ headLieBlocks: 200 });
      chain.mine();
      const { metrics } = await stage.index([node]);
      await waitUntil(async () => {
        const [status] = await readChainStatuses(scratch.database, datasets, [facts]);
        const reported = new RegExp(
          `^No progress for \\d+ s: ${upstreamName(node.url)} .*eth_blockNumber.*announced block`,
        );
        return reported.test(status?.stallReason ?? '') ? null : `the status says ${status?.stallReason}`;
      });
      expect((await metrics.stalled.get()).values).toMatchObject([{ value: 1 }]);
      node.faults.clear();
      await untilIndexed(scratch.database, facts, chain);
      expect((await readChainStatuses(scratch.database, datasets, [facts]))[0]?.stallReason).toBeNull();
    },
  );

  stagedTest('reorganises while the backfill runs: the tables are the last branch', async ({ stage, expect }) => {
    const { chain } = stage;
    const node = await stage.serve({ latencyMs: 5, logLimit: { style: 'geth', maxRange: 9 } });
    const duringBackfill: number[] = [];
    const { metrics } = await indexToTheTruth(stage, [node], {
      settings: { backfillProof: 'receipts' },
      onBackfill({ done, total }) {
        if (done === total) return;
        const depth = 4 + ((duringBackfill.length * 7) % 37);
        chain.reorg(depth, depth + 2);
        duringBackfill.push(done);
      },
    });
    expect(duringBackfill.length).toBeGreaterThan(2);
    expect((await metrics.reorgs.get()).values[0]?.value).toBeGreaterThan(0);
  });
});

describe.concurrent('a chain whose only upstream lies', () => {
  stagedTest(
    'stops with UNPROVEN_BLOCK under strict while another goes on, and goes on with an honest upstream',
    async ({ stage, expect }) => {
      const { chain, facts, scratch } = stage;
      const otherChain = createScriptedChain({ seed: 42, chainId: SCRIPTED_CHAIN_ID + 1 });
      otherChain.mine(100);
      const otherFacts = scriptedChainFacts(SCRIPTED_CHAIN_ID + 1);
      await stage.index([await stage.serve({}, otherChain)], { chain: otherFacts });
      const liar = await stage.serve({ dropReceiptLogsRate: 0.05 });
      const alone = await stage.index([liar]);
      const stopOf = async () =>
        (await readChainStatuses(scratch.database, datasets, [facts])).find(({ chainId }) => chainId === facts.id)
          ?.stop ?? null;
      await waitUntil(async () =>
        (await stopOf())?.code === 'UNPROVEN_BLOCK' ? null : 'the chain is not stopped',
      );
      expect((await stopOf())?.message).toContain(upstreamName(liar.url));
      const [rows] = await scratch.database.query<{ wrong: number }>(
        sql`SELECT count(*)::int AS wrong FROM sync_ranges WHERE chain_id = ${facts.id} AND proof NOT IN ('receipts', 'none')`,
      );
      expect(rows?.wrong).toBe(0);
      otherChain.mine(20);
      await untilIndexed(scratch.database, otherFacts, otherChain, { proven: true });
      await expectTruth(scratch.database, otherFacts, otherChain);
      expect((await stopOf())?.code).toBe('UNPROVEN_BLOCK');

      await alone.stop();
      await indexToTheTruth(stage, [liar, await stage.serve()]);
      expect(await stopOf()).toBeNull();
      expect(
        await countFaults(alone.registry, upstreamName(liar.url), ['receipts-root-mismatch']),
      ).toBeGreaterThan(0);
      await expectTruth(scratch.database, otherFacts, otherChain);
      expect(chain.head).toBe(STAGE_BLOCKS + 5);
    },
  );
});

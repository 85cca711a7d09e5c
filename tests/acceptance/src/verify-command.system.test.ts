/** Findings and repairs of `chainstead verify` and `chainstead gaps` in real tables. */

import { sql } from '@chainstead/db';
import { datasetsOf } from '@chainstead/sync/datasets';
import { backfillRanges, readChainStatuses, reindexRanges, verifyRanges } from '@chainstead/sync/ingest';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { describe } from 'vitest';
import { upstreamName, waitUntil } from './indexed-chain.ts';
import { commonCoverage, expectTruth } from './indexed-tables.ts';
import {
  blocksWithRows,
  blocksWithTransfers,
  commandOptions,
  DAMAGED,
  damage,
  indexedStage,
  never,
} from './range-command-stage.ts';
import { STAGE_BLOCKS, stagedTest } from './stage.ts';

describe.concurrent('verifyRanges', () => {
  stagedTest(
    'repairs what was damaged by hand, tells what, and finds nothing the next time',
    async ({ stage, expect }) => {
      const options = await commandOptions(stage, [await indexedStage(stage)]);
      await damage(stage);
      const [first = 0, second = 0, third = 0] = blocksWithTransfers(stage, DAMAGED);
      const sides = async (block: number): Promise<number> =>
        stage.chain
          .expectedTransfers({ from: block, to: block })
          .reduce((sum, { from, to }) => sum + (from === to ? 1 : 2), 0);
      const report = await verifyRanges(options, [DAMAGED], never);
      expect(report.levels).toEqual({ receipts: 40 });
      expect(report.uncovered).toEqual([]);
      expect(report.repairs).toMatchObject([
        { dataset: 'erc20-transfers', block: first, missing: await sides(first), surplus: 0 },
        { dataset: 'erc20-transfers', block: second, missing: await sides(second), surplus: await sides(second) },
        { dataset: 'erc20-transfers', block: third, missing: 0, surplus: 1 },
      ]);
      await expectTruth(options.database, stage.facts, stage.chain);
      expect(await verifyRanges(options, [{ from: 1, to: 236 }], never)).toEqual({
        levels: { receipts: 236 },
        repairs: [],
        uncovered: [],
      });
    },
  );

  stagedTest(
    'raises fast ranges to receipts, names who left logs out, and says what is not covered',
    async ({ stage, expect }) => {
      const liar = await stage.serve({ dropLogsRate: 0.1 });
      // The second upstream confirms blocks that nothing links to followed ones.
      const options = await commandOptions(stage, [liar, liar]);
      const liarName = new RegExp(`^${upstreamName(liar.url)}(#2)?$`);
      await backfillRanges(options, [{ from: 20, to: 80 }], never);
      expect(await commonCoverage(options.database, stage.facts)).toMatchObject([
        { range: { from: 20, to: 80 }, proof: 'none', upstream: expect.stringMatching(liarName) },
      ]);
      const report = await verifyRanges(options, [{ from: 1, to: 100 }], never);
      expect(report.levels).toEqual({ receipts: 61 });
      expect(report.uncovered).toEqual([
        { from: 1, to: 19 },
        { from: 81, to: 100 },
      ]);
      expect(report.repairs.length).toBeGreaterThan(3);
      for (const { upstream } of report.repairs) expect(upstream).toMatch(liarName);
      expect(await commonCoverage(options.database, stage.facts)).toMatchObject([
        { range: { from: 20, to: 80 }, proof: 'receipts', upstream: null },
      ]);
      expect(await blocksWithRows(stage)).toEqual(blocksWithTransfers(stage, { from: 20, to: 80 }));
    },
  );

  stagedTest('refuses a range that another command is working on', async ({ stage, expect }) => {
    const node = await indexedStage(stage);
    // It never answers for the receipts, so the reindex keeps what it has claimed.
    const silent = await stage.serve({ methods: ['eth_getBlockReceipts'], hangRate: 1 });
    const [working, refused] = [await commandOptions(stage, [silent]), await commandOptions(stage, [node])];
    const stopped = new AbortController();
    const reindexing = reindexRanges(working, [{ from: 100, to: 150 }], stopped.signal);
    await waitUntil(async () =>
      (await stage.scratch.database.query(sql`SELECT 1 FROM sync_claims`)).length > 0
        ? null
        : 'nothing is claimed',
    );
    const verifying = verifyRanges(refused, [{ from: 90, to: 140 }], never);
    await expect(verifying).rejects.toMatchObject({ code: 'RANGE_CLAIMED' });
    stopped.abort();
    await expect(reindexing).rejects.toThrow();
    expect((await verifyRanges(refused, [{ from: 90, to: 140 }], never)).repairs).toEqual([]);
    await expectTruth(stage.scratch.database, stage.facts, stage.chain);
  });
});

describe.concurrent('gaps and coverage', () => {
  stagedTest('are told by dataset, range and level', async ({ stage, expect }) => {
    const node = await indexedStage(stage);
    const options = await commandOptions(stage, [node]);
    const names = datasetsOf(stage.facts, datasets).map(({ name }) => name);
    const statusOf = async () => (await readChainStatuses(options.database, datasets, [stage.facts]))[0];
    expect(await statusOf()).toMatchObject({
      historyStart: 1,
      checkpoint: STAGE_BLOCKS,
      gaps: [],
      coverage: names
        .toSorted()
        .map((dataset) => ({ dataset, range: { from: 1, to: STAGE_BLOCKS }, proof: 'receipts' })),
    });
    await options.database.query(sql`UPDATE sync_chains SET history_start = 0`);
    await options.database.query(sql`DELETE FROM sync_ranges`);
    await backfillRanges(options, [{ from: 10, to: 99 }], never);
    // A second upstream confirms blocks that nothing links to followed ones.
    await verifyRanges(await commandOptions(stage, [node, node]), [{ from: 40, to: 59 }], never);
    const status = await statusOf();
    expect(status?.gaps).toEqual(
      names.flatMap((dataset) => [
        { dataset, range: { from: 0, to: 9 } },
        { dataset, range: { from: 100, to: STAGE_BLOCKS } },
      ]),
    );
    expect(await commonCoverage(options.database, stage.facts)).toMatchObject([
      { range: { from: 10, to: 39 }, proof: 'none', upstream: upstreamName(node.url) },
      { range: { from: 40, to: 59 }, proof: 'receipts', upstream: null },
      { range: { from: 60, to: 99 }, proof: 'none', upstream: upstreamName(node.url) },
    ]);
  });
});

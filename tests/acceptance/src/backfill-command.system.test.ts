/** What `chainstead backfill` does to real tables. */
import { mergeRanges } from '@chainstead/core';
import { backfillRanges, reindexRanges } from '@chainstead/sync/ingest';
import { listCoverage } from '@chainstead/sync/requests';
import { createScratchDatabase } from '@chainstead/testkit';
import { describe } from 'vitest';
import { indexFresh } from './indexed-chain.ts';
import { commonCoverage, dumpTables, expectTruth, untilIndexed } from './indexed-tables.ts';
import { blocksWithRows, blocksWithTransfers, commandOptions, never } from './range-command-stage.ts';
import { STAGE_BLOCKS, stagedTest } from './stage.ts';

describe.concurrent('backfillRanges', () => {
  stagedTest(
    'covers any number of separate ranges, in any order, and nothing else',
    async ({ stage, expect }) => {
      const options = await commandOptions(stage, [await stage.serve()]);
      const ranges = [
        { from: 150, to: 180 },
        { from: 10, to: 20 },
        { from: 15, to: 40 },
        { from: 41, to: 41 },
        { from: 200, to: 236 },
      ];
      const wanted = mergeRanges(ranges);
      const progress = await backfillRanges(options, ranges, never);
      expect(progress).toMatchObject({ done: 32 + 31 + 37, total: 32 + 31 + 37 });
      expect(
        mergeRanges((await commonCoverage(options.database, stage.facts)).map(({ range }) => range)),
      ).toEqual(wanted);
      expect(await blocksWithRows(stage)).toEqual(wanted.flatMap((range) => blocksWithTransfers(stage, range)));

      const before = await dumpTables(options.database, stage.facts);
      expect(await backfillRanges(options, ranges, never)).toMatchObject({ total: 0 });
      expect(await dumpTables(options.database, stage.facts)).toEqual(before);
      // What lies between is read, what is covered is not.
      expect(await backfillRanges(options, [{ from: 1, to: 236 }], never)).toMatchObject({ total: 236 - 100 });
      const fresh = await createScratchDatabase();
      stage.closeLater(() => fresh.drop());
      const node = await stage.serve();
      await indexFresh({ chain: stage.facts, url: node.url, database: fresh.database, from: 1, to: 236 });
      expect(await dumpTables(options.database, stage.facts)).toEqual(
        await dumpTables(fresh.database, stage.facts),
      );
    },
  );

  stagedTest('proves what it writes when history is to be proven first', async ({ stage, expect }) => {
    const liar = await stage.serve({ dropLogsRate: 0.2 });
    // The second upstream confirms blocks that nothing links to followed ones.
    const options = await commandOptions(stage, [liar, liar], { backfillProof: 'receipts' });
    await backfillRanges(options, [{ from: 50, to: 120 }], never);
    expect(await commonCoverage(options.database, stage.facts)).toMatchObject([
      { range: { from: 50, to: 120 }, proof: 'receipts', upstream: null },
    ]);
    expect(await blocksWithRows(stage)).toEqual(blocksWithTransfers(stage, { from: 50, to: 120 }));
  });

  stagedTest('refuses what may still be reorganised, and writes nothing', async ({ stage, expect }) => {
    const options = await commandOptions(stage, [await stage.serve()]);
    const highest = STAGE_BLOCKS - stage.facts.reorgDepthMax;
    const refused = backfillRanges(
      options,
      [
        { from: 10, to: 20 },
        { from: 230, to: highest + 1 },
      ],
      never,
    );
    await expect(refused).rejects.toMatchObject({ code: 'RANGE_NOT_FINAL', facts: { highestFinal: highest } });
    await expect(refused).rejects.toThrow(`exceed ${highest}`);
    expect(await listCoverage(options.database, stage.facts.id)).toEqual([]);
    await backfillRanges(options, [{ from: highest - 5, to: highest }], never);
    await expect(reindexRanges(options, [{ from: highest, to: highest + 1 }], never)).rejects.toMatchObject({
      code: 'RANGE_NOT_FINAL',
    });
  });

  stagedTest('beside a running ingest shares the work without a gap or a double', async ({ stage }) => {
    const node = await stage.serve({ latencyMs: 3 });
    const options = await commandOptions(stage, [node]);
    await stage.index([node], { settings: { backfillOrder: 'oldest-first' } });
    await backfillRanges(
      options,
      [
        { from: 180, to: 230 },
        { from: 20, to: 90 },
      ],
      never,
    );
    await untilIndexed(stage.scratch.database, stage.facts, stage.chain);
    await expectTruth(stage.scratch.database, stage.facts, stage.chain);
  });
});

/** What `chainstead reindex` does to real tables, any number of times. */

import { sql } from '@chainstead/db';
import { erc20Transfers } from '@chainstead/erc20/requests';
import type { Dataset } from '@chainstead/sync/datasets';
import { backfillRanges, reindexRanges } from '@chainstead/sync/ingest';
import { listCoverage } from '@chainstead/sync/requests';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { describe } from 'vitest';
import { commonCoverage, dumpTables, expectTruth } from './indexed-tables.ts';
import {
  blocksWithRows,
  blocksWithTransfers,
  commandOptions,
  DAMAGED,
  damage,
  indexedStage,
  never,
} from './range-command-stage.ts';
import { stagedTest } from './stage.ts';

describe.concurrent('reindexRanges', () => {
  stagedTest('gives the same result any number of times', async ({ stage, expect }) => {
    const options = await commandOptions(stage, [await indexedStage(stage)]);
    const before = await dumpTables(options.database, stage.facts);
    const coverage = await listCoverage(options.database, stage.facts.id);
    for (let turn = 0; turn < 3; turn++) {
      await reindexRanges(options, [{ from: 30, to: 200 }], never);
      expect(await dumpTables(options.database, stage.facts)).toEqual(before);
      // What was proven is proven again: the level never falls.
      expect(await listCoverage(options.database, stage.facts.id)).toEqual(coverage);
    }
    expect(await options.database.query(sql`SELECT * FROM sync_claims`)).toEqual([]);
  });

  stagedTest('restores what was deleted, altered and invented by hand', async ({ stage, expect }) => {
    const options = await commandOptions(stage, [await indexedStage(stage)]);
    await damage(stage);
    const damaged = await dumpTables(options.database, stage.facts);
    await reindexRanges(options, [DAMAGED], never);
    await expectTruth(options.database, stage.facts, stage.chain);
    expect(damaged.erc20_transfer_sides).not.toEqual(
      (await dumpTables(options.database, stage.facts)).erc20_transfer_sides,
    );
  });

  stagedTest('touches the range alone', async ({ stage, expect }) => {
    const options = await commandOptions(stage, [await indexedStage(stage)]);
    await damage(stage);
    const damaged = await dumpTables(options.database, stage.facts);
    await reindexRanges(
      options,
      [
        { from: 1, to: 99 },
        { from: 140, to: 236 },
      ],
      never,
    );
    expect(await dumpTables(options.database, stage.facts)).toEqual(damaged);
  });

  stagedTest('touches the given dataset alone', async ({ stage, expect }) => {
    const node = await indexedStage(stage);
    const { database } = stage.scratch;
    // A second dataset of the same blocks, in a separate table.
    await database.query(sql`CREATE TABLE copied_transfers (LIKE erc20_transfer_sides INCLUDING ALL)`);
    const copied = {
      ...erc20Transfers,
      name: 'copied-transfers',
      table: { ...erc20Transfers.table, name: 'copied_transfers', isPartitioned: false },
    } as Dataset;
    const both = await commandOptions(stage, [node], { datasets: [...datasets, copied] });
    await backfillRanges(both, [{ from: 90, to: 150 }], never);
    const copies = () =>
      database.query<{ row: string }>(sql`SELECT c::text AS row FROM copied_transfers c ORDER BY row`);
    const original = await copies();
    expect(original.length).toBeGreaterThan(50);

    await database.query(sql`DELETE FROM copied_transfers WHERE block_number BETWEEN 100 AND 110`);
    await damage(stage);
    const damaged = await dumpTables(database, stage.facts);
    await reindexRanges({ ...both, datasets: [copied] }, [DAMAGED], never);
    expect(await copies()).toEqual(original);
    expect((await dumpTables(database, stage.facts)).erc20_transfer_sides).toEqual(damaged.erc20_transfer_sides);
    await reindexRanges({ ...both, datasets }, [DAMAGED], never);
    await expectTruth(database, stage.facts, stage.chain);
    expect(await copies()).toEqual(original);
  });

  stagedTest('covers what was not covered', async ({ stage, expect }) => {
    const options = await commandOptions(stage, [await stage.serve()]);
    await reindexRanges(options, [{ from: 60, to: 70 }], never);
    expect(await commonCoverage(options.database, stage.facts)).toMatchObject([{ range: { from: 60, to: 70 } }]);
    expect(await blocksWithRows(stage)).toEqual(blocksWithTransfers(stage, { from: 60, to: 70 }));
  });
});

/** What `backfill`, `reindex`, `verify` and `gaps` of the command line do to real tables, any number of times. */
import type { BlockRange } from '@chainstead/core';
import { mergeRanges, silentLogger, systemClock } from '@chainstead/core';
import { datasets, erc20Transfers } from '@chainstead/datasets';
import {
  backfillRanges,
  type Dataset,
  listCoverage,
  type RangeCommandOptions,
  readChainStatuses,
  reindexRanges,
  verifyRanges,
} from '@chainstead/sync';
import { type ChainNode, createScratchDatabase } from '@chainstead/testkit';
import { describe } from 'vitest';
import { indexFresh, startPool, upstreamName, waitUntil } from './indexed-chain.ts';
import { dumpTables, expectTruth, untilIndexed } from './indexed-tables.ts';
import { STAGE_BLOCKS, type Stage, stagedTest } from './stage.ts';

const never = new AbortController().signal;

/** What the command line hands to the sync engine. */
async function commandOptions(
  stage: Stage,
  nodes: readonly ChainNode[],
  changed: Partial<RangeCommandOptions> = {},
): Promise<RangeCommandOptions> {
  const { pool, metrics } = await startPool(
    stage.facts,
    nodes.map(({ url }) => url),
  );
  stage.closeLater(() => pool.close());
  return {
    chain: stage.facts,
    pool,
    metrics,
    database: stage.scratch.database,
    datasets,
    logger: silentLogger(),
    clock: systemClock,
    proof: 'strict',
    backfillProof: 'none',
    ...changed,
  };
}

/** The stage's chain indexed and proven from block 1 to its head; nothing runs any more. */
async function indexedStage(stage: Stage): Promise<ChainNode> {
  const node = await stage.serve();
  const indexer = await stage.index([node]);
  await untilIndexed(stage.scratch.database, stage.facts, stage.chain, { proven: true });
  await indexer.stop();
  return node;
}

async function blocksWithRows(stage: Stage): Promise<number[]> {
  const rows = await stage.scratch.database.query<{ block_number: number }>(
    'SELECT DISTINCT block_number FROM erc20_transfers ORDER BY block_number',
  );
  return rows.map((row) => row.block_number);
}

/** Blocks of a range that have transfers. */
function blocksWithTransfers(stage: Stage, range: BlockRange): number[] {
  return [...new Set(stage.chain.expectedTransfers(range).map(({ blockNumber }) => blockNumber))];
}

const DAMAGED = { from: 100, to: 139 } as const;

/** Deletes, alters and invents rows by hand in two blocks. */
async function damage(stage: Stage): Promise<void> {
  const { database } = stage.scratch;
  const [first, second, third] = blocksWithTransfers(stage, DAMAGED);
  await database.query('DELETE FROM erc20_transfers WHERE block_number = $1', [first]);
  await database.query('UPDATE erc20_transfers SET value = value + 1 WHERE block_number = $1', [second]);
  await database.query(
    `INSERT INTO erc20_transfers (account, chain_id, block_number, transaction_index, log_index, direction, token,
                                  counterparty, value, transaction_hash, block_hash, block_timestamp)
     SELECT account, chain_id, block_number, transaction_index, log_index + 10000, direction, token, counterparty, value,
            transaction_hash, block_hash, block_timestamp
       FROM erc20_transfers WHERE block_number = $1 LIMIT 1`,
    [third],
  );
}

describe.concurrent('backfillRanges', () => {
  stagedTest('covers any number of separate ranges, in any order, and nothing else', async ({ stage, expect }) => {
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
    expect(mergeRanges((await listCoverage(options.database, stage.facts.id)).map(({ range }) => range))).toEqual(
      wanted,
    );
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
    expect(await dumpTables(options.database, stage.facts)).toEqual(await dumpTables(fresh.database, stage.facts));
  });

  stagedTest('proves what it writes when history is to be proven first', async ({ stage, expect }) => {
    const liar = await stage.serve({ dropLogsRate: 0.2 });
    const options = await commandOptions(stage, [liar], { backfillProof: 'receipts' });
    await backfillRanges(options, [{ from: 50, to: 120 }], never);
    expect(await listCoverage(options.database, stage.facts.id)).toMatchObject([
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
    await expect(refused).rejects.toThrow(`above ${highest}`);
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
    expect(await options.database.query('SELECT * FROM sync_claims')).toEqual([]);
  });

  stagedTest('restores what was deleted, altered and invented by hand', async ({ stage, expect }) => {
    const options = await commandOptions(stage, [await indexedStage(stage)]);
    await damage(stage);
    const damaged = await dumpTables(options.database, stage.facts);
    await reindexRanges(options, [DAMAGED], never);
    await expectTruth(options.database, stage.facts, stage.chain);
    expect(damaged.transfers).not.toEqual((await dumpTables(options.database, stage.facts)).transfers);
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
    // A second dataset of the same blocks, in a table of its own.
    await database.query('CREATE TABLE copied_transfers (LIKE erc20_transfers INCLUDING ALL)');
    const copied = { ...erc20Transfers, name: 'copied-transfers', table: 'copied_transfers' } as Dataset;
    const both = await commandOptions(stage, [node], { datasets: [...datasets, copied] });
    await backfillRanges(both, [{ from: 90, to: 150 }], never);
    const copies = () => database.query<{ row: string }>('SELECT c::text AS row FROM copied_transfers c ORDER BY row');
    const original = await copies();
    expect(original.length).toBeGreaterThan(50);

    await database.query('DELETE FROM copied_transfers WHERE block_number BETWEEN 100 AND 110');
    await damage(stage);
    const damaged = await dumpTables(database, stage.facts);
    await reindexRanges({ ...both, datasets: [copied] }, [DAMAGED], never);
    expect(await copies()).toEqual(original);
    expect((await dumpTables(database, stage.facts)).transfers).toEqual(damaged.transfers);
    await reindexRanges({ ...both, datasets }, [DAMAGED], never);
    await expectTruth(database, stage.facts, stage.chain);
    expect(await copies()).toEqual(original);
  });

  stagedTest('covers what was not covered', async ({ stage, expect }) => {
    const options = await commandOptions(stage, [await stage.serve()]);
    await reindexRanges(options, [{ from: 60, to: 70 }], never);
    expect(await listCoverage(options.database, stage.facts.id)).toMatchObject([{ range: { from: 60, to: 70 } }]);
    expect(await blocksWithRows(stage)).toEqual(blocksWithTransfers(stage, { from: 60, to: 70 }));
  });
});

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
      const options = await commandOptions(stage, [liar]);
      await backfillRanges(options, [{ from: 20, to: 80 }], never);
      expect(await listCoverage(options.database, stage.facts.id)).toMatchObject([
        { range: { from: 20, to: 80 }, proof: 'none', upstream: upstreamName(liar.url) },
      ]);
      const report = await verifyRanges(options, [{ from: 1, to: 100 }], never);
      expect(report.levels).toEqual({ receipts: 61 });
      expect(report.uncovered).toEqual([
        { from: 1, to: 19 },
        { from: 81, to: 100 },
      ]);
      expect(report.repairs.length).toBeGreaterThan(3);
      expect(new Set(report.repairs.map(({ upstream }) => upstream))).toEqual(new Set([upstreamName(liar.url)]));
      expect(await listCoverage(options.database, stage.facts.id)).toMatchObject([
        { range: { from: 20, to: 80 }, proof: 'receipts', upstream: null },
      ]);
      expect(await blocksWithRows(stage)).toEqual(blocksWithTransfers(stage, { from: 20, to: 80 }));
    },
  );

  stagedTest('refuses a range that another command is working on', async ({ stage, expect }) => {
    const node = await indexedStage(stage);
    const slow = await stage.serve({ latencyMs: 150 });
    const [working, refused] = [await commandOptions(stage, [slow]), await commandOptions(stage, [node])];
    const reindexing = reindexRanges(working, [{ from: 100, to: 150 }], never);
    await waitUntil(async () =>
      (await stage.scratch.database.query('SELECT 1 FROM sync_claims')).length > 0 ? null : 'nothing is claimed',
    );
    const verifying = verifyRanges(refused, [{ from: 90, to: 140 }], never);
    await expect(verifying).rejects.toMatchObject({ code: 'RANGE_CLAIMED' });
    await reindexing;
    expect((await verifyRanges(refused, [{ from: 90, to: 140 }], never)).repairs).toEqual([]);
    await expectTruth(stage.scratch.database, stage.facts, stage.chain);
  });
});

describe.concurrent('gaps and coverage', () => {
  stagedTest('are told by dataset, range and level', async ({ stage, expect }) => {
    const node = await indexedStage(stage);
    const options = await commandOptions(stage, [node]);
    const statusOf = async () => (await readChainStatuses(options.database, datasets))[0];
    expect(await statusOf()).toMatchObject({
      historyStart: 1,
      checkpoint: STAGE_BLOCKS,
      gaps: [],
      coverage: [{ dataset: 'erc20-transfers', range: { from: 1, to: STAGE_BLOCKS }, proof: 'receipts' }],
    });
    await options.database.query('UPDATE sync_chains SET history_start = 0');
    await options.database.query('DELETE FROM sync_ranges');
    await backfillRanges(options, [{ from: 10, to: 99 }], never);
    await verifyRanges(options, [{ from: 40, to: 59 }], never);
    const status = await statusOf();
    expect(status?.gaps).toEqual([
      { dataset: 'erc20-transfers', range: { from: 0, to: 9 } },
      { dataset: 'erc20-transfers', range: { from: 100, to: STAGE_BLOCKS } },
    ]);
    expect(status?.coverage).toMatchObject([
      { range: { from: 10, to: 39 }, proof: 'none', upstream: upstreamName(node.url) },
      { range: { from: 40, to: 59 }, proof: 'receipts', upstream: null },
      { range: { from: 60, to: 99 }, proof: 'none', upstream: upstreamName(node.url) },
    ]);
  });
});

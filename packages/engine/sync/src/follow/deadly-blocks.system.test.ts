import { fileURLToPath } from 'node:url';
import { readSetAsideWork, sql } from '@chainstead/db';
import { countDeaths, createScratchDatabase } from '@chainstead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { readChainState } from '../checkpoint.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { readRecordedFailures } from '../read/dataset-failures.ts';
import type { IngestingProcessOptions } from '../testing/ingesting-process.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';

const PROGRAM = fileURLToPath(new URL('../testing/ingesting-process.ts', import.meta.url));
const BLOCKS = 20;

// Invariant: SYNC-DEADLY-BLOCK
test('a block that ends the process three times is committed without the part that did it, and the part is shown', async () => {
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  const { database } = scratch;
  await createMarkTables(database);
  await database.query(sql`CREATE TABLE matched_blocks (number bigint PRIMARY KEY)`);
  const stage = await openScriptedStage(database, 952_001, [marks as Dataset], {
    blocks: BLOCKS,
    firstFollowed: 1,
  });
  onTestFinished(() => stage.close());
  const marked = stage.scripted.expectedTransfers({ from: 3, to: BLOCKS });
  const deadlyToDecode = Number(marked[0]?.blockNumber);
  const deadlyToMatch = BLOCKS - 1;
  const options: IngestingProcessOptions = {
    ...{ databaseUrl: scratch.url, chainId: stage.chain.id, nodeUrl: stage.node.url },
    ...{ deadlyToDecode, deadlyToMatch },
  };

  const deaths = await countDeaths({
    args: [PROGRAM, JSON.stringify(options)],
    isSettled: async () => (await readChainState(database, stage.chain.id))?.checkpoint?.number === BLOCKS,
  });

  // The first death is the third of the first block, too: its process recorded nothing.
  expect(deaths).toBe(5);
  const { key, id } = stage.chain;
  expect((await readSetAsideWork(database, 10)).map(({ name, crashes }) => `${name} ${crashes}`).sort()).toEqual(
    [`block ${key} ${deadlyToDecode} dataset marks 3`, `block ${key} ${deadlyToMatch} streams 3`].sort(),
  );
  const every = Array.from({ length: BLOCKS }, (_, index) => index + 1);
  const matched = await database.query<{ number: number }>(sql`SELECT number FROM matched_blocks ORDER BY 1`);
  expect(matched.map(({ number }) => number)).toEqual(every.filter((number) => number !== deadlyToMatch));
  expect((await stage.coverageOf(marks)).ranges).toEqual([
    { from: 1, to: deadlyToDecode - 1 },
    { from: deadlyToDecode + 1, to: BLOCKS },
  ]);
  const { stored, expected } = await stage.marksOf(1, BLOCKS);
  const lost = stage.scripted.expectedTransfers({ from: deadlyToDecode, to: deadlyToDecode }).length;
  expect(stored).toBe(expected - lost);
  expect((await readRecordedFailures(database)).get(id)).toMatchObject([
    { dataset: 'marks', message: expect.stringContaining('Work quarantined: the process ended 3 times') },
  ]);
});

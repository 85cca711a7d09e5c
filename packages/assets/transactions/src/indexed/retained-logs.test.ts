import { createChainRegistry } from '@chainstead/chains';
import type { Hash, Log } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf, createPartitions, hashOf, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { logs } from '../contract-logs/dataset.ts';
import { seededHash, seedTransactions } from '../testing/seeded-transactions.ts';
import { readRetainedLogs } from './stored-logs.ts';

const eth = createChainRegistry().get('eth');
const chain = { ...eth, logs: 'all' as const };
const [SENDER, CONTRACT] = [addressOf(0xa), addressOf(0xc)];
const BLOCKS = [1, 2, 3, 4, 5];

const scratch = scratchOfFile();

beforeAll(async () => {
  const { database } = scratch;
  const seeded = BLOCKS.flatMap((blockNumber) =>
    [0, 1].map((transactionIndex) => ({ blockNumber, transactionIndex, from: SENDER, to: CONTRACT })),
  );
  await seedTransactions(database, chain, seeded);
  await createPartitions(database, logs.table.name, chain.id);
  // Two logs of the second transaction of each block, the later one first.
  const rows = logs.decode(
    BLOCKS.flatMap((block) => [logOf(block, 1, 5), logOf(block, 1, 4)]),
    { chain, timestampOf },
  );
  await database.transaction((transaction) =>
    transaction.copy(logs.table.name, logs.table.columns, rows.map(logs.table.copyLine)),
  );
  for (const [first, last, proof] of [
    [1, 2, 'receipts'],
    [3, 3, 'unproven'],
    [5, 5, 'none'],
  ])
    await database.query(
      sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (${chain.id}, 'logs', ${first ?? null}, ${last ?? null}, ${proof ?? null})`,
    );
});

function logOf(blockNumber: number, transactionIndex: number, logIndex: number): Log {
  return {
    ...{
      address: CONTRACT,
      topics: [hashOf(7, logIndex)],
      data: '0x01',
      blockNumber,
      transactionIndex,
      logIndex,
    },
    ...{ blockHash: hashOf(1, blockNumber), transactionHash: seededHash({ blockNumber, transactionIndex }) },
    blockTimestamp: null,
  };
}

const hashAt = (blockNumber: number, transactionIndex: number): Hash =>
  seededHash({ blockNumber, transactionIndex });

/** As an earlier page has them: since then the second block was replaced. */
const PAGE = BLOCKS.flatMap((blockNumber) =>
  [0, 1].map((transactionIndex) => ({
    ...{ block: blockNumber, transaction: transactionIndex, hash: hashAt(blockNumber, transactionIndex) },
    blockHash: blockNumber === 2 ? hashOf(9, 2) : hashOf(1, blockNumber),
  })),
);

test('logs are told of blocks that have all of theirs, are not contradicted, and were not replaced', async () => {
  const kept = await readRetainedLogs(scratch.database, chain, PAGE);
  expect([...kept.keys()].toSorted()).toEqual(
    [1, 5].flatMap((block) => [hashAt(block, 0), hashAt(block, 1)]).toSorted(),
  );
  for (const block of [1, 5]) {
    expect(kept.get(hashAt(block, 0))).toEqual([]);
    expect(kept.get(hashAt(block, 1))).toEqual(
      [4, 5].map((index) => ({ index, address: CONTRACT, topics: [hashOf(7, index)], data: '0x01' })),
    );
  }
});

test('none are told of a chain that keeps those of some contracts alone, nor for a page without transactions', async () => {
  expect(await readRetainedLogs(scratch.database, eth, PAGE)).toEqual(new Map());
  expect(await readRetainedLogs(scratch.database, chain, [])).toEqual(new Map());
});

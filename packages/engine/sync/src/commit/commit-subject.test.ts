import { type Address, type Log, parseAddress, parseHash } from '@chainstead/core';
import { exampleChain, hashOf, TRANSFER_TOPIC, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { readPartitions } from '../partitions/read-partitions.ts';
import { createKnownContracts } from '../rows/known-contracts.ts';
import { createMarkTables } from '../testing/marks-dataset.ts';
import { createPartitionedMarkTable, partitionedMarks, storedMarks } from '../testing/partitioned-marks.ts';
import { commitSubject } from './commit-settled.ts';

const chain = exampleChain();
const WALLET = parseAddress(`0x${'a1'.repeat(20)}`);
const BLOCKS_BETWEEN = 40_000;
const BLOCKS = Array.from({ length: 200 }, (_, index) => 8_000_000 - index * BLOCKS_BETWEEN);

const scratch = scratchOfFile();

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createPartitionedMarkTable(scratch.database);
});

const topicOf = (account: Address) => parseHash(`0x${account.slice(2).padStart(64, '0')}`);

function logIn(blockNumber: number): Log {
  return {
    address: parseAddress(`0x${'c0'.repeat(20)}`),
    topics: [TRANSFER_TOPIC, topicOf(WALLET), topicOf(WALLET)],
    data: `0x${'5'.padStart(64, '0')}`,
    blockNumber,
    blockHash: hashOf(1, blockNumber),
    transactionHash: hashOf(2, blockNumber),
    transactionIndex: 0,
    logIndex: 0,
    blockTimestamp: null,
  };
}

test('a history whose rows lie far apart leaves few partitions, and the block of each row', async () => {
  const dependencies = { database: scratch.database, chain, knownContracts: createKnownContracts() };
  for (const number of BLOCKS) {
    const facts = { number, hash: hashOf(1, number), parentHash: null, timestamp: timestampOf(number) };
    const rows = await commitSubject(dependencies, {
      datasets: [partitionedMarks],
      logs: [logIn(number)],
      blocks: new Map([[number, facts]]),
      record: async () => {},
    });
    expect(rows).toBe(1);
  }
  // Rows of blocks without a partition would be missing here.
  expect(await storedMarks(scratch.database, chain.id)).toHaveLength(BLOCKS.length);
  expect((await readPartitions(scratch.database, partitionedMarks.table, chain.id)).length).toBeLessThanOrEqual(
    27,
  );
});

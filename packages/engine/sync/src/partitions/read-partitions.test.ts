import { parseChainId } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createPartitions } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { PARTITION_TOP, readPartitions } from './read-partitions.ts';

const scratch = scratchOfFile();

test('a partition without a lower bound begins at the first block, and one without an upper bound ends at the top', async () => {
  const { database } = scratch;
  const chainId = parseChainId(7);
  await database.query(
    sql`CREATE TABLE placed (chain_id bigint, block_number integer) PARTITION BY RANGE (chain_id, block_number)`,
  );
  await createPartitions(database, 'placed', chainId, [100]);
  expect(await readPartitions(database, { name: 'placed' }, chainId)).toMatchObject([
    { from: 0, to: 100 },
    { from: 100, to: PARTITION_TOP },
  ]);
});

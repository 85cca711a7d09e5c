import type { Address } from '@chainstead/core';
import type { Database, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { compileStream } from '../matching/compile-stream.ts';
import { indexStreams } from '../matching/stream-index.ts';
import { EXAMPLE_CHAIN_ID, exampleAddress, exampleStream } from '../matching/testing/example-stream.ts';
import { createStreamAddressStore } from '../records/stream-addresses.ts';
import { createStreamStore } from '../records/stream-store.ts';
import { exampleActor } from '../records/testing/example-actor.ts';
import { readWatchers } from './read-watchers.ts';

const scratch = scratchOfFile();

const SHARED = Array.from({ length: 20 }, (_, number) => exampleAddress(number + 1));

let streams = 0;

async function add(key: string, addresses: readonly Address[]) {
  const config = exampleStream({ includeContractLogs: true, tag: `${streams++}` });
  const stream = await createStreamStore(scratch.database).create(config, exampleActor(key));
  await createStreamAddressStore(scratch.database).add(stream.id, addresses, exampleActor(key));
  return compileStream({ ...stream, createdBy: key });
}

// Invariant: FAIR-KEYS
test('streams that share addresses are read within the budget of their key, the others are deferred', async () => {
  const heavy = await Promise.all(Array.from({ length: 30 }, () => add('heavy', SHARED)));
  const small = await add('heavy', SHARED.slice(0, 2));
  const other = await add('other', SHARED);
  const index = indexStreams([...heavy, small, other], EXAMPLE_CHAIN_ID);
  let pairs = 0;
  const reader: Pick<Database, 'query'> = {
    async query<Row extends object>(statement: ReturnType<typeof sql>) {
      const rows = await scratch.database.query<Row>(statement);
      for (const row of rows) if ('streams' in row && Array.isArray(row.streams)) pairs += row.streams.length;
      return rows;
    },
  };
  // 100 pairs of a key: the small stream, and four others.
  const budget = { perKey: 1_000, perBlock: 10_000 };
  const { watched, deferred } = await readWatchers(reader, { index, budget }, SHARED);
  expect(deferred.size).toBe(26);
  expect(deferred.has(small) || deferred.has(other)).toBe(false);
  expect(watched.size).toBe(SHARED.length);
  for (const [place, address] of SHARED.entries()) {
    expect(watched.get(address)).toContain(other.id);
    expect(watched.get(address)).toHaveLength(place < 2 ? 6 : 5);
  }
  // There are 642: only those of the first look, and those within the budget, are read.
  expect(pairs).toBe(101 + 102);

  const alone = { ...budget, perKey: 10, admitsOne: true };
  const least = await readWatchers(
    scratch.database,
    { index: indexStreams(heavy, EXAMPLE_CHAIN_ID), budget: alone },
    SHARED,
  );
  expect(least.deferred.size).toBe(29);
  const all = await readWatchers(
    scratch.database,
    { index, budget: { perKey: 6_420, perBlock: 10_000 } },
    SHARED,
  );
  expect(all.deferred.size).toBe(0);
  expect(all.watched.get(SHARED[0] as Address)).toHaveLength(32);
});

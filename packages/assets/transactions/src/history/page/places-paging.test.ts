import { addressOf, exampleChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { type HappeningKind, openWritten } from '../testing/written-rows.ts';
import { FIRST_PLACE, type HistoryQuery } from './history-query.ts';
import { readPlaces } from './places-page.ts';

const chain = exampleChain();
const WALLET = addressOf(0xa11ce);
const KINDS: readonly HappeningKind[] = ['token', 'nft', 'approval', 'internal'];
const BLOCKS = Array.from({ length: 13 }, (_, index) => index + 1);

const scratch = scratchOfFile();

beforeAll(async () => {
  const written = await openWritten(scratch.database, chain);
  await written.add(
    BLOCKS.map((block) => ({
      ...{ kind: KINDS[block % KINDS.length] ?? 'token', block, index: 0, log: 0, items: 1 },
      ...{ from: WALLET, to: addressOf(7) },
    })),
  );
});

// Invariant: PAGE-KEYSET
test.each(['ASC', 'DESC'] as const)('a run has every transaction above the covered blocks, %s', async (order) => {
  const found: number[] = [];
  let query: HistoryQuery = { ...FIRST_PLACE, wallet: WALLET, order, limit: 2 };
  for (let hasMore = true; hasMore; ) {
    const { places, next } = await readPlaces(scratch.database, chain, query);
    found.push(...places.map(({ block }) => block));
    hasMore = next !== null;
    if (next !== null) query = { ...query, after: next.position, pinnedBlock: next.upperBound };
  }
  expect(found).toEqual(order === 'ASC' ? BLOCKS : BLOCKS.toReversed());
});

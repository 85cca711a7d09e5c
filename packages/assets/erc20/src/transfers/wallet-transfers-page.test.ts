import { type Address, parseAddress } from '@chainstead/core';
import { addressOf, createPartitions, exampleChain, hashOf, storeToken, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { type SeededTransfer, seedTransfers } from './testing/seeded-wallets.ts';
import { readWalletTransfers, type WalletTransfersQuery } from './wallet-transfers-page.ts';

const chain = exampleChain();
const BLOCKS = 60;
const TOKENS = [1, 2, 3, 4].map((number) => addressOf(0x70 + number));
const NFT = addressOf(0x74);
// The last one shares the key of the first.
const WALLETS = [
  ...[1, 2, 3].map(addressOf),
  parseAddress(`0x${'0'.repeat(8)}${'f'.repeat(24)}${'0'.repeat(7)}1`),
];

const scratch = scratchOfFile();
let transfers: readonly SeededTransfer[];

beforeAll(async () => {
  transfers = fc.sample(
    fc.uniqueArray(
      fc.record({
        from: fc.constantFrom(...WALLETS),
        to: fc.constantFrom(...WALLETS),
        token: fc.constantFrom(...TOKENS),
        value: fc.bigInt(0n, 2n ** 256n - 1n),
        // Blocks without rows are not stored: dates must be right anyway.
        blockNumber: fc.nat(BLOCKS / 3).map((third) => third * 3),
        transactionIndex: fc.nat(2),
        logIndex: fc.nat(3),
      }),
      { minLength: 250, maxLength: 250, selector: (transfer) => placeOf(transfer).join(':') },
    ),
    { numRuns: 1, seed: 7 },
  )[0] as SeededTransfer[];
  await createPartitions(scratch.database, 'erc20_transfer_sides', chain.id, [10, 11, 40]);
  await seedTransfers(scratch.database, chain, transfers);
  await storeToken(scratch.database, chain.id, NFT, { standard: 'erc1155' });
});

function placeOf(transfer: SeededTransfer): [number, number, number] {
  return [transfer.blockNumber, transfer.transactionIndex, transfer.logIndex];
}

function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((value, index) => value - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

type Bounds = Pick<
  WalletTransfersQuery,
  'address' | 'order' | 'tokens' | 'fromBlock' | 'toBlock' | 'fromDate' | 'toDate' | 'pinnedBlock'
>;

/** The expected page, computed from the list of transfers. */
function model(query: Bounds): number[][] {
  const time = (transfer: SeededTransfer): number => timestampOf(transfer.blockNumber) * 1000;
  const rows = transfers
    .filter((row) => row.from === query.address || row.to === query.address)
    .filter((row) => row.token !== NFT && (query.tokens === null || query.tokens.includes(row.token)))
    .filter((row) => row.blockNumber >= (query.fromBlock ?? 0) && row.blockNumber <= (query.toBlock ?? BLOCKS))
    .filter((row) => row.blockNumber <= (query.pinnedBlock ?? BLOCKS))
    .filter((row) => time(row) >= (query.fromDate?.getTime() ?? 0))
    .filter((row) => query.toDate === null || time(row) <= query.toDate.getTime())
    .map(placeOf)
    .toSorted(compare);
  return query.order === 'ASC' ? rows : rows.toReversed();
}

const blocks = fc.option(fc.oneof({ arbitrary: fc.nat(BLOCKS + 5), weight: 9 }, fc.constant(2 ** 40)));
const dates = fc.option(
  fc
    .record({ block: fc.integer({ min: -3, max: BLOCKS + 3 }), milliseconds: fc.constantFrom(-1, 0, 1, 5_000) })
    .map(({ block, milliseconds }) => new Date(timestampOf(block) * 1000 + milliseconds)),
);
const queries = fc.record({
  address: fc.constantFrom<Address>(...WALLETS, addressOf(99)),
  order: fc.constantFrom('ASC' as const, 'DESC' as const),
  tokens: fc.option(fc.subarray([...TOKENS, addressOf(0x7f)])),
  fromBlock: blocks,
  toBlock: blocks,
  fromDate: dates,
  toDate: dates,
  pinnedBlock: blocks,
});

async function readRun(bounds: Bounds, limit: number) {
  const places: number[][] = [];
  let count: number | null = null;
  let newest: number | null = null;
  let after: WalletTransfersQuery['after'] = null;
  for (;;) {
    const query = { ...bounds, limit, after, count: after === null };
    const page = await readWalletTransfers(scratch.database, chain, query);
    if (after === null) {
      count = page.count;
      newest = page.next?.upperBound ?? null;
    }
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    places.push(...page.rows.map((row) => [row.block_number, row.transaction_index, row.log_index]));
    for (const row of page.rows) {
      const { block_hash, block_timestamp } = page.blockOf(row);
      expect(block_hash).toBe(hashOf(1, row.block_number));
      expect(block_timestamp).toBe(new Date(timestampOf(row.block_number) * 1000).toISOString());
    }
    if (page.next === null) return { places, count, newest };
    after = page.next.position;
  }
}

/** The expected total of a run's pages. */
function expectedRun(bounds: Bounds, limit: number) {
  const places = model(bounds);
  const ofWallet = transfers.filter(({ from, to }) => from === bounds.address || to === bounds.address);
  const blocks =
    bounds.order === 'DESC' ? places.map(([block]) => block ?? 0) : ofWallet.map((row) => row.blockNumber);
  const highest = bounds.pinnedBlock ?? Math.max(...blocks);
  const newest = places.length > limit ? highest : null;
  return { places, count: places.length, newest };
}

test('pages put together are exactly the rows of the model, for any filter, order, bounds and page size', async () => {
  await fc.assert(
    fc.asyncProperty(queries, fc.integer({ min: 1, max: 40 }), async (bounds, limit) => {
      expect(await readRun(bounds, limit)).toEqual(expectedRun(bounds, limit));
    }),
    { numRuns: 150 },
  );
});

test('values come back as they were written, to the last of 256 bits', async () => {
  const page = await readWalletTransfers(scratch.database, chain, {
    address: WALLETS[0] as Address,
    order: 'ASC',
    limit: 100,
    tokens: null,
    fromBlock: null,
    toBlock: null,
    fromDate: null,
    toDate: null,
    pinnedBlock: null,
    after: null,
    count: false,
  });
  const byPlace = new Map(transfers.map((transfer) => [placeOf(transfer).join(':'), transfer]));
  expect(page.rows.length).toBeGreaterThan(20);
  for (const row of page.rows) {
    const written = byPlace.get([row.block_number, row.transaction_index, row.log_index].join(':'));
    expect([row.value, row.token]).toEqual([written?.value.toString(), written?.token]);
  }
});

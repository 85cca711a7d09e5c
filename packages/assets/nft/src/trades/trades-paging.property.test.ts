/** Compares pages of trades to a model, with contracts and wallets that share a key. */
import { type Address, parseAddress } from '@chainstead/core';
import { addressOf, createPartitions, hashOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { eth } from './testing/requested-trades.ts';
import { type SeededTrade, seedDatasetCoverage, seedTrades } from './testing/seeded-trades.ts';
import { type NftTradesQuery, type NftTradesSubject, tradesPage } from './trades-page.ts';

const BLOCKS = 60;
const DAY = 86_400;
/** The last block's time. */
const END = 1_700_000_000;

/** Another address with the same key. */
const twinOf = (address: Address): Address =>
  parseAddress(`${address.slice(0, 10)}${'f'.repeat(24)}${address.slice(34)}`);
const COLLECTIONS = [addressOf(0x71), twinOf(addressOf(0x71)), addressOf(0x72)];
const WALLETS = [addressOf(0x51), twinOf(addressOf(0x51)), addressOf(0x52)];
const IDS = ['1', '2', (2n ** 256n - 1n).toString()];
const MARKETPLACES = ['opensea', 'blur'];

const scratch = scratchOfFile();
let trades: readonly (SeededTrade & Required<Pick<SeededTrade, 'token' | 'tokenIds' | 'seller' | 'buyer'>>)[];

beforeAll(async () => {
  const facts = fc.record({
    token: fc.constantFrom(...COLLECTIONS),
    tokenIds: fc.oneof(fc.constantFrom(...IDS.map((id) => [id])), fc.constant(['1', '2'])),
    marketplace: fc.constantFrom(...MARKETPLACES),
    seller: fc.constantFrom(...WALLETS),
    buyer: fc.constantFrom(...WALLETS),
    price: fc.bigInt(1n, 2n ** 128n).map(String),
    blockNumber: fc.integer({ min: 1, max: BLOCKS }),
    logIndex: fc.nat(2),
  });
  const sample = fc.sample(fc.array(facts, { minLength: 260, maxLength: 260 }), { numRuns: 1, seed: 7 })[0] ?? [];
  // Counts as the decoder does: by log and collection key.
  const counts = new Map<string, number>();
  trades = sample.map((trade) => {
    const place = `${trade.blockNumber}:${trade.logIndex}:${trade.token === COLLECTIONS[2]}`;
    const item = counts.get(place) ?? 0;
    counts.set(place, item + trade.tokenIds.length);
    return { ...trade, item, timestamp: END - (BLOCKS - trade.blockNumber) * (DAY / 4) };
  });
  await createPartitions(scratch.database, 'nft_trades', eth.id, [10, 11, 40]);
  await seedTrades(scratch.database, eth, trades);
  await seedDatasetCoverage(scratch.database, eth, 'nft-trades', 0, BLOCKS);
});

const subjects: fc.Arbitrary<NftTradesSubject> = fc.oneof(
  fc.record({
    kind: fc.constant('token' as const),
    token: fc.constantFrom(...COLLECTIONS),
    tokenId: fc.constantFrom(...IDS, '3'),
  }),
  fc.record({
    kind: fc.constant('collection' as const),
    token: fc.constantFrom(...COLLECTIONS, addressOf(9)),
    marketplace: fc.constantFrom(...MARKETPLACES, null),
  }),
  fc.record({ kind: fc.constant('wallet' as const), wallet: fc.constantFrom(...WALLETS, addressOf(9)) }),
);
const blocks = fc.option(fc.oneof({ arbitrary: fc.nat(BLOCKS + 5), weight: 9 }, fc.constant(2 ** 40)));
const runs = fc.record({ subject: subjects, fromBlock: blocks, toBlock: blocks, pinnedBlock: blocks });
type Run = Pick<NftTradesQuery, 'subject' | 'fromBlock' | 'toBlock' | 'pinnedBlock'>;

function isOf(trade: (typeof trades)[number], subject: NftTradesSubject): boolean {
  if (subject.kind === 'wallet') return [trade.seller, trade.buyer].includes(subject.wallet);
  if (trade.token !== subject.token) return false;
  if (subject.kind === 'token') return trade.tokenIds.includes(subject.tokenId);
  return subject.marketplace === null || trade.marketplace === subject.marketplace;
}

/** The expected result of a run's pages, computed from the list of trades. */
function expectedRun({ subject, fromBlock, toBlock, pinnedBlock }: Run): string[] {
  return trades
    .filter((trade) => isOf(trade, subject))
    .filter(({ blockNumber }) => blockNumber >= (fromBlock ?? 0))
    .filter(({ blockNumber }) => blockNumber <= Math.min(toBlock ?? BLOCKS, pinnedBlock ?? BLOCKS))
    .map((trade) => {
      // For a token, the row is the token's own, not the leading one.
      const place = subject.kind === 'token' ? trade.tokenIds.indexOf(subject.tokenId) : 0;
      return { ...trade, item: (trade.item ?? 0) + place };
    })
    .toSorted(
      (a, b) =>
        b.blockNumber - a.blockNumber ||
        (b.logIndex ?? 0) - (a.logIndex ?? 0) ||
        b.item - a.item ||
        (a.token < b.token ? 1 : -1),
    )
    .map((trade) =>
      [
        trade.blockNumber,
        trade.logIndex,
        trade.item,
        trade.token,
        trade.tokenIds,
        trade.price,
        trade.seller,
      ].join(' '),
    );
}

async function readRun(run: Run, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (let after: NftTradesQuery['after'] = null; ; ) {
    const dates = { fromDate: null, toDate: null };
    const query: NftTradesQuery = { ...run, ...dates, order: 'DESC', limit, after, metadata: false };
    const page = await tradesPage(eth, query).read(scratch.database);
    for (const row of page.rows) {
      expect(page.blockOf(row).block_hash).toBe(hashOf(1, row.block_number));
      found.push(
        [row.block_number, row.log_index, row.item, row.token_address, row.token_ids, row.price, row.seller].join(
          ' ',
        ),
      );
    }
    if (page.next === null) return found;
    after = page.next.position;
  }
}

test('pages put together are exactly the trades of the model, for any subject, bounds and page size', async () => {
  await fc.assert(
    fc.asyncProperty(runs, fc.integer({ min: 1, max: 40 }), async (run, limit) => {
      expect(await readRun(run, limit)).toEqual(expectedRun(run));
    }),
    { numRuns: 120 },
  );
});

/**
 * Any history of one punk, written in any order: an accepted bid's price is that of the bid that the contract paid out.
 */
import { parseChainId } from '@chainstead/core';
import { type Database, joinSql, runStatements, type Sql, sql } from '@chainstead/db';
import { createPartitions } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { exampleAddress } from './testing/example-transaction.ts';
import { acceptedBidPrice } from './trade-price-statement.ts';

const CHAIN_ID = 1;
const bytes = (account: number): Buffer => Buffer.from(exampleAddress(account).slice(2), 'hex');

const scratch = scratchOfFile();
let database: Database;

beforeAll(async () => {
  database = scratch.database;
  await createPartitions(database, 'nft_trades', parseChainId(CHAIN_ID));
});

/** One event of a punk, each in the next block, transaction or log. */
interface Step {
  readonly act: 'enter' | 'withdraw' | 'accept';
  readonly punk: number;
  readonly bidder: number;
  readonly value: bigint;
  /** The part of the position that increases: block, transaction or log. */
  readonly place: 0 | 1 | 2;
}

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom('enter', 'enter', 'withdraw', 'accept'),
  punk: fc.nat(1),
  bidder: fc.integer({ min: 1, max: 3 }),
  value: fc.bigInt(1n, 2n ** 256n - 1n),
  place: fc.constantFrom(0, 1, 2),
});

interface Bid {
  readonly bidder: number;
  readonly value: bigint;
}

/**
 * The contract's own rules: one bid per punk, which a new bid replaces, its bidder can withdraw, and acceptance clears.
 */
function play(steps: readonly Step[]): { rows: Sql[]; prices: Map<string, string> } {
  const standing = new Map<number, Bid>();
  const rows: Sql[] = [];
  const prices = new Map<string, string>();
  let place = [1, 0, 0];
  for (const { act, punk, bidder, value, place: grown } of steps) {
    place = place.map((number, index) => (index < grown ? number : index === grown ? number + 1 : 0));
    const bid = standing.get(punk);
    if (act === 'enter') {
      standing.set(punk, { bidder, value });
      rows.push(bidRow(punk, place, { bidder, value }, true));
    } else if (act === 'withdraw' && bid?.bidder === bidder) {
      standing.delete(punk);
      rows.push(bidRow(punk, place, bid, false));
    } else if (act === 'accept' && bid !== undefined) {
      standing.delete(punk);
      rows.push(saleRow(punk, place, bid.bidder));
      prices.set(place.join(':'), String(bid.value));
    }
  }
  return { rows, prices };
}

function bidRow(punk: number, place: readonly number[], bid: Bid, entered: boolean): Sql {
  return sql`INSERT INTO punk_bids (token_address, chain_id, token_id, block_number, transaction_index, log_index, bidder, value, entered)
      VALUES (${bytes(100)}, ${CHAIN_ID}, ${punk}, ${placeOf(place)}, ${bytes(bid.bidder)}, ${bid.value}, ${entered})`;
}

function saleRow(punk: number, place: readonly number[], buyer: number): Sql {
  const contract = sql`${bytes(100)}`;
  return sql`INSERT INTO nft_trades (collection_key, token_address, chain_id, token_id, block_number, transaction_index, log_index, item, leads,
        marketplace, protocol, marketplace_address, seller, buyer, side, collections, transaction_hash, block_timestamp)
      VALUES (address_key(${contract}), ${contract}, ${CHAIN_ID}, ${punk}, ${placeOf(place)}, 0, true, 'cryptopunks', 'cryptopunks', ${contract}, ${bytes(9)}, ${bytes(buyer)},
        1, 1, ${Buffer.alloc(32, 1)}, now())`;
}

/** Block, transaction and log. */
function placeOf(place: readonly number[]): Sql {
  return joinSql(place.map((number) => sql`${number}`));
}

/** By the position of the sale. */
async function pricesInDatabase(): Promise<Map<string, string | null>> {
  const rows = await database.query<{ place: string; price: string | null }>(
    sql`SELECT concat_ws(':', block_number, transaction_index, log_index) AS place,
       coalesce(trade.price, ${acceptedBidPrice('trade')})::text AS price
     FROM nft_trades AS trade`,
  );
  return new Map(rows.map(({ place, price }) => [place, price]));
}

async function write(rows: readonly Sql[]): Promise<void> {
  await database.query(sql`TRUNCATE punk_bids, nft_trades`);
  await runStatements(database, rows);
}

test('in whichever order bids and sales arrive, each sale has the price of its bid', async () => {
  const history = fc.array(step, { maxLength: 24 }).map(play);
  const shuffled = history.chain(({ rows, prices }) =>
    fc.shuffledSubarray(rows, { minLength: rows.length }).map((arrived) => ({ arrived, prices })),
  );
  await fc.assert(
    fc.asyncProperty(shuffled, async ({ arrived, prices }) => {
      await write(arrived);
      expect(await pricesInDatabase()).toEqual(prices);
    }),
    { numRuns: 60 },
  );
});

const bid = { bidder: 1, value: 5n };
const SALE = [3, 2, 1];

test.each([
  ['no bid is known', [], null],
  ['the bid is', [bidRow(7, [3, 2, 0], bid, true)], '5'],
  ['a bid of the same block, but after the sale, is', [bidRow(7, [3, 2, 2], bid, true)], null],
  [
    'a higher bid of the same buyer replaced it',
    [bidRow(7, [1, 9, 9], bid, true), bidRow(7, [2, 0, 0], { ...bid, value: 6n }, true)],
    '6',
  ],
  ['it was withdrawn', [bidRow(7, [1, 0, 0], bid, true), bidRow(7, [2, 0, 0], bid, false)], null],
  [
    'the last known bid is somebody else’s',
    [bidRow(7, [1, 0, 0], bid, true), bidRow(7, [2, 0, 0], { ...bid, bidder: 2 }, true)],
    null,
  ],
  ['the bid is for another punk', [bidRow(8, [1, 0, 0], bid, true)], null],
])('the price of an accepted bid where %s', async (_, bids, price) => {
  await write([saleRow(7, SALE, 1), ...bids]);
  expect(await pricesInDatabase()).toEqual(new Map([[SALE.join(':'), price]]));
});

test('the bid is found by the primary key, whatever else was bid', async () => {
  const plan = await database.query<{ 'QUERY PLAN': string }>(
    sql`EXPLAIN SELECT ${acceptedBidPrice('trade')} FROM nft_trades AS trade`,
  );
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toMatch(/Index Scan Backward using punk_bids_pkey /);
});

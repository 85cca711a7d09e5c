import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { addressOf, atDepth, exampleChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { COLLECTION, removeTrades, type SeededTrade, seedTrades } from './testing/seeded-trades.ts';

const chain = exampleChain();
const WETH = addressOf(0x2e);
const ETHER = 10n ** 18n;

const scratch = scratchOfFile();
beforeEach(() => scratch.database.query(sql`TRUNCATE nft_trades, nft_sale_days, blocks`));

interface DayRow {
  readonly token: Address;
  readonly tokenId: string;
  readonly paid: string;
  readonly day: string;
  readonly sales: number;
  readonly total: string;
  readonly lowest: string;
  readonly lowestAt: readonly number[];
  readonly highest: string;
  readonly highestAt: readonly number[];
  readonly latestAt: readonly number[];
}

function storedDays(): Promise<DayRow[]> {
  const place = (sale: string): string =>
    `ARRAY[${sale}_block, ${sale}_transaction, ${sale}_log, ${sale}_item]::integer[] AS ${sale}_at`;
  return scratch.database.query<DayRow>(
    sql`SELECT '0x' || encode(token_address, 'hex') AS token, token_id, '0x' || encode(payment_token, 'hex') AS paid, day::text AS day,
       sales, total, lowest, ${rawSql(place('lowest'))}, highest, ${rawSql(place('highest'))}, ${rawSql(place('latest'))}
     FROM nft_sale_days ORDER BY token_address, token_id, payment_token, day`,
  );
}

/** Computes the expected rows without SQL. */
function expectedDays(trades: readonly SeededTrade[]): DayRow[] {
  const groups = new Map<string, { key: Pick<DayRow, 'token' | 'tokenId' | 'paid' | 'day'>; sales: Sale[] }>();
  for (const trade of trades) {
    const sale = saleOf(trade);
    if (sale === null) continue;
    for (const tokenId of [trade.tokenIds?.[0] ?? '1', '-1']) {
      const key = {
        token: trade.token ?? COLLECTION,
        tokenId,
        paid: trade.paymentToken ?? ZERO_ADDRESS,
        day: new Date((trade.timestamp ?? 0) * 1000).toISOString().slice(0, 10),
      };
      const name = JSON.stringify(key);
      const group = groups.get(name) ?? { key, sales: [] };
      group.sales.push(sale);
      groups.set(name, group);
    }
  }
  return [...groups.values()].map(({ key, sales }) => summaryOf(key, sales)).toSorted(byKey);
}

interface Sale {
  readonly unit: bigint;
  readonly place: readonly number[];
}

function saleOf(trade: SeededTrade): Sale | null {
  const ids = trade.tokenIds ?? ['1'];
  if ((trade.collections ?? 1) !== 1 || new Set(ids).size !== 1 || (trade.price ?? null) === null) return null;
  const units = (trade.amounts ?? ids.map(() => '1')).reduce((sum, amount) => sum + BigInt(amount), 0n);
  const unit = units === 0n ? 0n : BigInt(trade.price ?? 0) / units;
  if (unit === 0n || unit >= 2n ** 256n) return null;
  return {
    unit,
    place: [trade.blockNumber, trade.transactionIndex ?? 0, trade.logIndex ?? 0, trade.item ?? 0],
  };
}

function summaryOf(key: Pick<DayRow, 'token' | 'tokenId' | 'paid' | 'day'>, sales: readonly Sale[]): DayRow {
  const inOrder = sales.toSorted((a, b) => comparePlaces(a.place, b.place));
  const best = (isBetter: (a: bigint, b: bigint) => boolean): Sale =>
    inOrder.reduce((kept, sale) => (isBetter(sale.unit, kept.unit) ? sale : kept));
  const lowest = best((a, b) => a < b);
  const highest = best((a, b) => a > b);
  return {
    ...key,
    sales: sales.length,
    total: sales.reduce((sum, { unit }) => sum + unit, 0n).toString(),
    lowest: lowest.unit.toString(),
    lowestAt: lowest.place,
    highest: highest.unit.toString(),
    highestAt: highest.place,
    latestAt: inOrder.at(-1)?.place ?? [],
  };
}

function comparePlaces(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((part, place) => part !== b[place]);
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

function byKey(a: DayRow, b: DayRow): number {
  const id = BigInt(a.tokenId) - BigInt(b.tokenId);
  if (a.token !== b.token) return a.token < b.token ? -1 : 1;
  if (id !== 0n) return id < 0n ? -1 : 1;
  if (a.paid !== b.paid) return a.paid < b.paid ? -1 : 1;
  return a.day < b.day ? -1 : a.day === b.day ? 0 : 1;
}

const trade = (blockNumber: number, facts: Partial<SeededTrade> = {}): SeededTrade => ({
  blockNumber,
  timestamp: 1_700_006_400 + blockNumber * 3_600,
  ...facts,
});

describe('what counts', () => {
  test('a sale counts for its token and for its collection', async () => {
    await seedTrades(scratch.database, chain, [
      trade(3, { price: '5' }),
      trade(4, { tokenIds: ['2'], price: '7' }),
    ]);
    const rows = await storedDays();
    expect(rows.map(({ tokenId, sales, total }) => [tokenId, sales, total])).toEqual([
      ['-1', 2, '12'],
      ['1', 1, '5'],
      ['2', 1, '7'],
    ]);
    expect(rows).toEqual(expectedDays([trade(3, { price: '5' }), trade(4, { tokenIds: ['2'], price: '7' })]));
  });

  test.each<[string, Partial<SeededTrade>]>([
    ['a bundle of several tokens', { tokenIds: ['1', '2'] }],
    ['a bundle over several collections', { collections: 2 }],
    ['a price of zero', { price: '0' }],
    ['a price that is not known', { price: null }],
    ['units that cost less than one base unit', { amounts: ['3'], price: '2' }],
    ['no units at all', { amounts: ['0'] }],
    ['a price beyond 256 bits', { price: (2n ** 256n).toString() }],
  ])('%s does not', async (_, facts) => {
    await seedTrades(scratch.database, chain, [trade(1, facts)]);
    expect(await storedDays()).toEqual([]);
  });

  test('of several units the price of one counts, rounded down; a repeated id is one token', async () => {
    await seedTrades(scratch.database, chain, [
      trade(1, { amounts: ['3'], price: '10' }),
      trade(2, { tokenIds: ['1', '1'], amounts: ['2', '5'], price: '20' }),
    ]);
    expect((await storedDays()).map(({ total }) => total)).toEqual(['5', '5']);
  });

  test('prices of 256 bits and their sums are exact', async () => {
    const price = (2n ** 256n - 1n).toString();
    await seedTrades(scratch.database, chain, [trade(1, { price }), trade(2, { price })]);
    expect((await storedDays())[0]).toMatchObject({
      total: (2n * (2n ** 256n - 1n)).toString(),
      lowest: price,
      lowestAt: [1, 0, 0, 0],
      highestAt: [1, 0, 0, 0],
      latestAt: [2, 0, 0, 0],
    });
  });
});

/** Trades over some days at distinct positions, with every property that includes or excludes a row. */
const histories = fc
  .array(
    fc.record({
      block: fc.nat(30),
      log: fc.nat(3),
      token: fc.constantFrom(COLLECTION, addressOf(7)),
      tokenIds: fc.constantFrom(['1'], ['2'], ['1', '2'], ['3', '3'], [(2n ** 256n - 1n).toString()]),
      units: fc.constantFrom('1', '1', '4', '0'),
      price: fc.constantFrom('0', '3', '10', '10', (5n * ETHER).toString(), (2n ** 256n).toString(), null),
      paymentToken: fc.constantFrom(null, null, WETH),
      collections: fc.constantFrom(1, 1, 1, 2),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((facts) => {
    const unique = new Map(facts.map((fact) => [`${fact.block}:${fact.log}:${fact.token}`, fact]));
    return [...unique.values()].map(
      (fact): SeededTrade => ({
        token: fact.token,
        tokenIds: fact.tokenIds,
        amounts: fact.tokenIds.map(() => fact.units),
        price: fact.price,
        paymentToken: fact.paymentToken,
        collections: fact.collections,
        blockNumber: fact.block,
        logIndex: fact.log,
        // Several blocks share a second on some chains, and days start within a run of blocks.
        timestamp: 1_700_000_000 + Math.floor(fact.block / 2) * 17_000,
      }),
    );
  });

test(
  'after any order of additions and removals the rows are those of a recomputation',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        histories,
        fc.array(fc.record({ first: fc.nat(30), length: fc.integer({ min: 1, max: 12 }), keep: fc.boolean() }), {
          maxLength: 6,
        }),
        fc.infiniteStream(fc.nat(1_000)),
        async (trades, steps, picks) => {
          await scratch.database.query(sql`TRUNCATE nft_trades, nft_sale_days, blocks`);
          const shuffled = trades
            .map((each) => ({ each, at: picks.next().value ?? 0 }))
            .toSorted((a, b) => a.at - b.at)
            .map(({ each }) => each);
          const half = Math.ceil(shuffled.length / 2);
          let present = shuffled.slice(0, half);
          await seedTrades(scratch.database, chain, present);
          await seedTrades(scratch.database, chain, shuffled.slice(half));
          present = shuffled;
          for (const { first, length, keep } of steps) {
            const blocks = Array.from({ length }, (_, index) => first + index);
            // Every second run acts as if tables were distributed.
            await scratch.database.transaction((transaction) =>
              removeTrades(transaction, chain, blocks, first % 2 === 1),
            );
            const gone = present.filter(({ blockNumber }) => blocks.includes(blockNumber));
            present = present.filter(({ blockNumber }) => !blocks.includes(blockNumber));
            expect(await storedDays()).toEqual(expectedDays(present));
            if (!keep) continue;
            await seedTrades(scratch.database, chain, gone);
            present = [...present, ...gone];
          }
          expect(await storedDays()).toEqual(expectedDays(present));
        },
      ),
      { numRuns: atDepth(25) },
    );
  },
  atDepth(120_000),
);

test('taking one of 20,000 sales away reads the sales around its day, not all', async () => {
  await seedTrades(
    scratch.database,
    chain,
    Array.from({ length: 20_000 }, (_, index) =>
      trade(index, { timestamp: 1_600_000_000 + index * 1_200, price: String(index + 1) }),
    ),
  );
  await scratch.database.query(sql`ANALYZE nft_trades, nft_sale_days`);
  const [before] = await storedDays();
  const read = await scratch.database.transaction(async (transaction) => {
    const [start] = await transaction.query<{ rows: number }>(rawSql(ROWS_READ));
    await removeTrades(transaction, chain, [10_000]);
    const [end] = await transaction.query<{ rows: number }>(rawSql(ROWS_READ));
    return (end?.rows ?? 0) - (start?.rows ?? 0);
  });
  expect(before?.sales).toBeGreaterThan(0);
  // A day has 72 sales, read for the token and for the collection.
  expect(read).toBeGreaterThan(100);
  expect(read).toBeLessThan(600);
  expect((await storedDays()).reduce((sum, { sales }) => sum + sales, 0)).toBe(2 * 19_999);
});

/** Rows of trades that this transaction has read so far, by any scan. */
const ROWS_READ = `SELECT sum(pg_stat_get_xact_tuples_returned(inhrelid) + pg_stat_get_xact_tuples_fetched(inhrelid) + coalesce((
  SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) FROM pg_index WHERE indrelid = inhrelid), 0))::bigint AS rows
  FROM pg_inherits WHERE inhparent = 'nft_trades'::regclass`;

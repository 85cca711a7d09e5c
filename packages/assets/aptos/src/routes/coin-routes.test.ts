import { createHash } from 'node:crypto';
import { sql } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { coins } from '../coins/dataset.ts';
import { ask, exampleApi, readAll, readPage } from '../testing/example-api.ts';
import { coinInfoChange, exampleTransaction, sliceOf } from '../testing/example-transaction.ts';
import { addressOf, type SeededCoin, seedCoins, seedRange } from '../testing/seeded-rows.ts';

const scratch = scratchOfFile();
let app: ApiApp;
beforeAll(async () => {
  app = await exampleApi(scratch.database);
});
beforeEach(() => scratch.database.query(sql`TRUNCATE aptos_coins, aptos_ranges`));

interface Coin {
  readonly symbol: string;
  readonly name: string;
  readonly coin_type_hash: string;
  readonly transaction_version_created: string;
}

async function symbols(path: string): Promise<string[]> {
  return (await readAll<Coin>(app, path)).flat().map(({ symbol }) => symbol);
}

describe('a coin', () => {
  it('has the fields of the contract', async () => {
    const aggregator = { handle: '0x1b', key: '0x619dc', limit: '1' };
    const supply = { vec: [{ aggregator: { vec: [aggregator] }, integer: { vec: [] } }] };
    const type = '0x1::coin::CoinInfo<0x1::aptos_coin::AptosCoin>';
    const genesis = exampleTransaction({
      type: 'genesis_transaction',
      version: 0,
      timestamp: null,
      changes: [coinInfoChange({ type, name: 'Aptos Coin', symbol: 'APT', supply })],
    });
    const later = exampleTransaction({
      version: 83401661,
      timestamp: 1_675_760_095_999_999n,
      changes: [coinInfoChange({})],
    });
    await scratch.database.transaction((transaction) =>
      coins.derive(sliceOf([genesis, later])).write(transaction),
    );
    await seedRange(scratch.database, 'coins', 0, 83401661);
    expect(await readPage(app, '/coins/latest?limit=2')).toEqual({
      cursor: null,
      hasNextPage: false,
      indexed: { from_version: '0', to_version: '83401661', complete: true },
      result: [
        {
          coin_type: '0xa::m::C',
          coin_type_hash: createHash('sha256').update('0xa::m::C').digest('hex'),
          creator_address: addressOf(10),
          decimals: 8,
          name: 'Coin',
          supply_aggregator_table_handle: null,
          supply_aggregator_table_key: null,
          symbol: 'C',
          transaction_created_timestamp: '2023-02-07T08:54:55.000000Z',
          transaction_version_created: '83401661',
        },
        {
          coin_type: '0x1::aptos_coin::AptosCoin',
          coin_type_hash: '91ceb1308a98389691e05158b07ed5f079ab78461a6bb8d5a4054b1bb5cb8bb6',
          creator_address: addressOf(1),
          decimals: 8,
          name: 'Aptos Coin',
          supply_aggregator_table_handle: addressOf(0x1b),
          supply_aggregator_table_key: addressOf(0x619dc),
          symbol: 'APT',
          transaction_created_timestamp: '1970-01-01T00:00:00.000000Z',
          transaction_version_created: '0',
        },
      ],
    });
  });
});

describe('the latest coins', () => {
  it('come newest first, page by page, after an offset', async () => {
    await seedCoins(scratch.database, numbered(25));
    const pages = await readAll<Coin>(app, '/coins/latest?limit=7&offset=3');
    expect(pages.map((page) => page.length)).toEqual([7, 7, 7, 1]);
    expect(pages.flat().map((row) => Number(row.transaction_version_created))).toEqual(
      Array.from({ length: 22 }, (_, index) => 21 - index),
    );
  });

  it('say what is indexed, of an empty answer too', async () => {
    const indexed = async () => (await readPage(app, '/coins/latest?limit=1')).indexed;
    expect(await indexed()).toEqual({ from_version: null, to_version: null, complete: false });
    await seedRange(scratch.database, 'coins', 5, 9);
    await seedRange(scratch.database, 'coins', 20, 30);
    expect(await indexed()).toEqual({ from_version: '20', to_version: '30', complete: false });
    await seedCoins(scratch.database, numbered(1));
    expect(await indexed()).toEqual({ from_version: '20', to_version: '30', complete: false });
  });
});

describe('coins by symbol', () => {
  it('come in byte order, whatever the locale of the database', async () => {
    const given = ['b', 'B', 'a', 'A', 'Z', 'z', 'é', 'e', '_', '1', '😀', '', ' ', 'AB', 'aB', '〇'];
    await seedCoins(
      scratch.database,
      given.map((symbol, version) => ({ symbol, version })),
    );
    const sorted = given.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(await symbols('/coins/symbols?limit=3')).toEqual(sorted);
    const between = await symbols(`/coins/symbols?limit=3&from_symbol=B&to_symbol=${encodeURIComponent('é')}`);
    expect(between).toEqual(sorted.slice(sorted.indexOf('B'), sorted.indexOf('é') + 1));
  });

  it('include both bounds, and take an empty one for none', async () => {
    await seedCoins(
      scratch.database,
      ['A', 'B', 'C', 'D'].map((symbol, version) => ({ symbol, version })),
    );
    expect(await symbols('/coins/symbols?limit=1&from_symbol=B&to_symbol=C')).toEqual(['B', 'C']);
    expect(await symbols('/coins/symbols?limit=9&from_symbol=C')).toEqual(['C', 'D']);
    expect(await symbols('/coins/symbols?limit=9&to_symbol=B')).toEqual(['A', 'B']);
    expect(await symbols('/coins/symbols?limit=9&from_symbol=&to_symbol=')).toEqual(['A', 'B', 'C', 'D']);
    expect(await symbols('/coins/symbols?limit=9&from_symbol=D&to_symbol=A')).toEqual([]);
  });

  it('keep their bounds where a later page leaves them out, and refuse others', async () => {
    await seedCoins(
      scratch.database,
      ['A', 'B', 'C', 'D'].map((symbol, version) => ({ symbol, version })),
    );
    const first = await readPage<Coin>(app, '/coins/symbols?limit=1&from_symbol=B&to_symbol=C');
    const second = await readPage<Coin>(app, `/coins/symbols?limit=5&cursor=${first.cursor}`);
    expect(second.result.map(({ symbol }) => symbol)).toEqual(['C']);
    const other = await ask(app, `/coins/symbols?limit=5&from_symbol=A&cursor=${first.cursor}`);
    expect(other.status).toBe(400);
    expect(await other.json()).toEqual({
      statusCode: '400',
      message: ['from_symbol must be "B" as in the cursor, or left out, "A" was given'],
      error: 'Bad Request',
    });
  });
});

describe('coins by name', () => {
  it('come in byte order between bounds', async () => {
    const names = ['beta', 'Alpha', 'alpha', 'Gamma'];
    await seedCoins(
      scratch.database,
      names.map((name, version) => ({ symbol: 'S', name, version })),
    );
    const read = async (query: string) =>
      (await readAll<Coin>(app, `/coins/names?limit=2${query}`)).flat().map((row) => row.name);
    expect(await read('')).toEqual(['Alpha', 'Gamma', 'alpha', 'beta']);
    expect(await read('&from_name=Gamma&to_name=alpha')).toEqual(['Gamma', 'alpha']);
  });
});

describe('coins by creator', () => {
  it.each([
    ['brackets', (a: string, b: string) => `creator_addresses[]=${a}&creator_addresses[]=${b}`],
    ['indexes', (a: string, b: string) => `creator_addresses[0]=${a}&creator_addresses[1]=${b}`],
    ['repetition', (a: string, b: string) => `creator_addresses=${a}&creator_addresses=${b}`],
    ['commas', (a: string, b: string) => `creator_addresses=${a},${b.toUpperCase().replace('X', 'x')}`],
  ])('of several are merged, newest first, with %s', async (_, query) => {
    await seedCoins(
      scratch.database,
      Array.from({ length: 12 }, (_unused, version) => ({ symbol: 'S', version, creator: version % 3 })),
    );
    const pages = await readAll<Coin>(app, `/coins/creators?limit=3&${query(addressOf(0), addressOf(2))}`);
    expect(pages.flat().map((row) => Number(row.transaction_version_created))).toEqual([11, 9, 8, 6, 5, 3, 2, 0]);
  });
});

describe('coins by hash', () => {
  it('are a plain array of those that are there', async () => {
    await seedCoins(scratch.database, numbered(3));
    const page = await readPage<Coin>(app, '/coins/latest?limit=3');
    const [a = '', b = ''] = page.result.map((coin) => coin.coin_type_hash);
    const response = await ask(
      app,
      `/coins?coin_type_hashes[]=${a}&coin_type_hashes[]=${'0'.repeat(64)}&coin_type_hashes[]=${b.toUpperCase()}`,
    );
    const rows = (await response.json()) as Coin[];
    expect(
      rows.toSorted((x, y) => Number(y.transaction_version_created) - Number(x.transaction_version_created)),
    ).toEqual(page.result.slice(0, 2));
  });
});

describe('pages', () => {
  const routes = [
    '/coins/latest',
    '/coins/symbols',
    '/coins/names',
    `/coins/creators?creator_addresses=${addressOf(1)},${addressOf(2)}`,
  ];

  it.each(routes)('of %s have every coin once while others arrive', async (route) => {
    const coin = fc.record({
      symbol: fc
        .string({ unit: 'grapheme', maxLength: 3 })
        .filter((text) => text.isWellFormed() && !text.includes('\0')),
      creator: fc.integer({ min: 1, max: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(coin, { minLength: 1, maxLength: 30 }),
        fc.array(coin, { maxLength: 12 }),
        fc.integer({ min: 1, max: 8 }),
        async (present, arriving, limit) => {
          await scratch.database.query(sql`TRUNCATE aptos_coins`);
          await seedCoins(
            scratch.database,
            present.map((each, index) => numberedCoin(each, 100 + 2 * index)),
          );
          const before = new Set(
            (await readPage<Coin>(app, '/coins/latest?limit=100')).result.map((row) => row.coin_type_hash),
          );
          // Above, between and below the existing ones.
          const waiting = arriving.map((each, index) => numberedCoin(each, 81 + 8 * index));
          const path = `${route}${route.includes('?') ? '&' : '?'}limit=${limit}`;
          const pages = await readAll<Coin>(app, path, async () => {
            const next = waiting.pop();
            if (next !== undefined) await seedCoins(scratch.database, [next]);
          });
          const seen = pages.flat().map((row) => row.coin_type_hash);
          expect(new Set(seen).size).toBe(seen.length);
          expect(new Set(seen).isSupersetOf(before)).toBe(true);
        },
      ),
      { numRuns: 15 },
    );
  });

  it('of other networks and routes refuse each other’s cursors', async () => {
    await seedCoins(scratch.database, numbered(3));
    const { cursor } = await readPage(app, '/coins/latest?limit=1');
    const wrong = ['/coins/symbols?limit=1', '/coins/latest?limit=1&network=testnet'];
    for (const path of wrong) expect((await ask(app, `${path}&cursor=${cursor}`)).status).toBe(400);
  });
});

function numbered(count: number): SeededCoin[] {
  return Array.from({ length: count }, (_, version) => ({ symbol: `S${version}`, version }));
}

function numberedCoin(given: { readonly symbol: string; readonly creator: number }, version: number): SeededCoin {
  return { ...given, version };
}

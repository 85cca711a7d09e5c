import { type Database, rawSql, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AptosDataset } from './dataset.ts';
import { APTOS_DATASET_NAMES, aptosDatasets } from './datasets.ts';
import {
  coinEvent,
  coinInfoChange,
  coinStoreChange,
  exampleTransaction,
  sliceOf,
} from './testing/example-transaction.ts';
import type { AptosTransaction } from './transaction.ts';

const scratch = scratchOfFile();
let database: Database;
beforeAll(async () => {
  database = scratch.database;
});

const TABLES = ['aptos_coins', 'aptos_transfers', 'aptos_balances', 'aptos_balance_history'];
const datasets = aptosDatasets(APTOS_DATASET_NAMES);

/** Writes slices in sequence, each in a transaction. @returns rows added by each */
async function write(slices: readonly (readonly AptosTransaction[])[], kept = datasets): Promise<number[]> {
  const added: number[] = [];
  for (const slice of slices) added.push(await writeSlice(slice, kept));
  return added;
}

function writeSlice(transactions: readonly AptosTransaction[], kept: readonly AptosDataset[]): Promise<number> {
  return database.transaction(async (transaction) => {
    let added = 0;
    for (const dataset of kept) added += await dataset.derive(sliceOf(transactions)).write(transaction);
    return added;
  });
}

/** Returns the content of all tables, sorted by text. */
async function tables(): Promise<unknown> {
  const rows = TABLES.map((table) =>
    database.query(sql`SELECT t::text AS row FROM ${rawSql(table)} AS t ORDER BY 1`),
  );
  return Promise.all(rows);
}

async function empty(): Promise<void> {
  await database.query(sql`TRUNCATE ${rawSql(TABLES.join(', '))}`);
}

/** Few wallets and coins, so that many transactions write the same ones. */
const walletNumbers = fc.integer({ min: 1, max: 4 }).map((wallet) => `0x${wallet}`);
const coinTypes = fc.integer({ min: 1, max: 4 }).map((coin) => `0xa::m::C${coin}<0xb::n::D>`);
const generated = fc.record({
  success: fc.boolean(),
  sender: walletNumbers,
  infos: fc.array(fc.record({ coinType: coinTypes, name: fc.string({ unit: 'binary', maxLength: 40 }) }), {
    maxLength: 2,
  }),
  stores: fc.array(fc.record({ owner: walletNumbers, coinType: coinTypes, amount: fc.nat() }), { maxLength: 3 }),
  deleted: fc.boolean(),
});

const histories = fc.array(generated, { minLength: 1, maxLength: 12 }).map((list) => list.map(transactionOf));

function transactionOf(
  given: typeof generated extends fc.Arbitrary<infer T> ? T : never,
  index: number,
): AptosTransaction {
  const stores = given.stores.map(({ owner, coinType, amount }, place) =>
    given.deleted && place === 0
      ? { type: 'delete_resource', address: owner, resource: `0x1::coin::CoinStore<${coinType}>` }
      : coinStoreChange(owner, coinType, String(amount), 2 + 2 * place),
  );
  return exampleTransaction({
    version: 100 + index,
    success: given.success,
    sender: given.sender,
    changes: [
      ...given.infos.map(({ coinType, name }) =>
        coinInfoChange({ type: `0x1::coin::CoinInfo<${coinType}>`, name }),
      ),
      ...stores,
    ],
    events: given.stores.map(({ owner, amount }, place) => ({
      ...coinEvent('Deposit', owner, 2 + 2 * place, String(amount)),
      sequence_number: String(index),
    })),
  });
}

/** Transactions in any order, split into slices at random, some of which repeat. */
function arrivals<T>(transactions: readonly T[]): fc.Arbitrary<T[][]> {
  const cuts = fc.array(fc.nat({ max: transactions.length }), { maxLength: 5 });
  return fc
    .tuple(fc.shuffledSubarray([...transactions], { minLength: transactions.length }), cuts, fc.nat({ max: 5 }))
    .map(([shuffled, places, again]) => {
      const ends = [0, ...places.toSorted((a, b) => a - b), shuffled.length];
      const slices = ends.slice(1).map((end, index) => shuffled.slice(ends[index], end));
      return [...slices, ...slices.slice(0, again)];
    });
}

describe('slices', () => {
  it('leave the same tables in whatever order they arrive, cut anywhere, repeated or not', async () => {
    await fc.assert(
      fc.asyncProperty(
        histories.chain((history) => fc.tuple(fc.constant(history), arrivals(history))),
        async ([history, slices]) => {
          await empty();
          await write([history]);
          const expected = await tables();
          await empty();
          await write(slices);
          expect(await tables()).toEqual(expected);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('leave the same tables where writers race', async () => {
    const history =
      fc.sample(fc.array(generated, { minLength: 60, maxLength: 60 }), { numRuns: 1, seed: 7 })[0] ?? [];
    const transactions = history.map(transactionOf);
    await empty();
    await write([transactions]);
    const expected = await tables();
    await empty();
    const slices = Array.from({ length: 12 }, (_, part) =>
      transactions.filter((_, index) => index % 12 === part),
    );
    await Promise.all(slices.map((slice) => writeSlice(slice, datasets)));
    expect(await tables()).toEqual(expected);
  });

  it('say how many rows they added, none the second time', async () => {
    await empty();
    const slice = [
      exampleTransaction({
        changes: [coinInfoChange({}), coinStoreChange('0xb', '0xa::m::C', '5')],
        events: [coinEvent('Deposit', '0xb', 2, '5')],
      }),
    ];
    // A coin, two transfers (one is gas), one row of balance history.
    expect(await write([slice, slice])).toEqual([4, 0]);
  });

  it('of other networks stand beside each other', async () => {
    await empty();
    await database.transaction(async (transaction) => {
      const [coins] = datasets;
      const change = { changes: [coinInfoChange({})] };
      for (const network of ['mainnet', 'testnet'] as const)
        await coins?.derive(sliceOf([exampleTransaction(change)], network)).write(transaction);
    });
    const rows = await database.query<{ network: string }>(sql`SELECT network FROM aptos_coins ORDER BY network`);
    expect(rows.map((row) => row.network)).toEqual(['mainnet', 'testnet']);
  });
});

describe('hostile names and symbols', () => {
  it.each([
    ['NUL', 'a\0b', 'ab'],
    ['control characters', 'a\u0001\u001b\u007f\r\n\t\v', 'a\u0001\u001b\u007f\r\n\t\v'],
    ['quotes, braces and backslashes', '{"a\\",NULL}', '{"a\\",NULL'],
    ['a lone surrogate', '\ud800x', '\ufffdx'],
    ['the word NULL', 'NULL', 'NULL'],
    ['nothing', '', ''],
    ['a megabyte', '\u0000'.repeat(3) + 'x'.repeat(1_000_000), 'x'.repeat(7)],
    ['emoji at the cut', `${'s'.repeat(9)}😀😀`, `${'s'.repeat(9)}😀`],
    ['bidirectional marks', '\u202eabc', '\u202eabc'],
  ])('with %s are stored', async (_, symbol, stored) => {
    await empty();
    await write([[exampleTransaction({ changes: [coinInfoChange({ symbol, name: symbol })] })]]);
    const [row] = await database.query<{ symbol: string; name: string }>(
      sql`SELECT symbol, name FROM aptos_coins`,
    );
    expect(row?.symbol).toBe(stored);
    expect(row?.name.startsWith(stored)).toBe(true);
  });

  it('in every text that a resource can have are stored', async () => {
    await empty();
    const hostile = '\0"\\{},😀\ud83d';
    const changes = [coinStoreChange('0xb', `0xa::m::${hostile}`, '5')];
    const transaction = exampleTransaction({
      changes,
      events: [coinEvent('Deposit', '0xb', 2, '5')],
      entryFunction: hostile,
    });
    await write([[transaction]]);
    const rows = await database.query(
      sql`SELECT coin_type, entry_function_id FROM aptos_transfers WHERE NOT is_gas_fee`,
    );
    const stored = '"\\{},😀\ufffd';
    expect(rows).toEqual([{ coinType: `0xa::m::${stored}`, entryFunctionId: stored }]);
  });
});

describe('datasets', () => {
  it('are chosen by name and always come in one order', () => {
    expect(aptosDatasets(['holders', 'coins']).map(({ name }) => name)).toEqual(['coins', 'holders']);
    expect(aptosDatasets([])).toEqual([]);
  });

  it('have a marker in every transaction that can cause a row', () => {
    const transaction = exampleTransaction({
      changes: [coinInfoChange({}), coinStoreChange('0xb', '0xa::m::C', '5')],
      events: [coinEvent('Deposit', '0xb', 2, '5')],
    });
    const text = JSON.stringify({ ...transaction, timestamp: undefined });
    expect(datasets.map(({ markers }) => markers?.some((marker) => text.includes(marker)))).toEqual([
      true,
      true,
      true,
    ]);
    expect(datasets.map((dataset) => dataset.derive(sliceOf([transaction])).count)).toEqual([1, 2, 1]);
  });
});

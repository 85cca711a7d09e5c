import { sql } from '@chainstead/db';
import { createAptosLedger, createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { coins } from '../coins/dataset.ts';
import { parseTransaction } from '../fullnode/read-page.ts';
import { listCoverage, recordCoverage } from '../sync/aptos-status.ts';
import { exportCoins } from './export-coins.ts';
import { importCoins } from './import-coins.ts';

const COINS = 2_500;

let source: ScratchDatabase;
let target: ScratchDatabase;
beforeAll(async () => {
  [source, target] = [await createScratchDatabase(), await createScratchDatabase()];
});
beforeEach(async () => {
  for (const { database } of [source, target]) await database.query(sql`TRUNCATE aptos_coins, aptos_ranges`);
});
afterAll(async () => {
  await source.drop();
  await target.drop();
});

function coinAt(version: number, coinType: string): object {
  return {
    version: String(version),
    hash: '0x00',
    success: true,
    timestamp: '1665609980299882',
    type: 'user_transaction',
    events: [],
    changes: [
      {
        type: 'write_resource',
        address: '0xa',
        data: {
          type: `0x1::coin::CoinInfo<${coinType}>`,
          data: { decimals: 8, name: 'Näme "🙂"', symbol: 'S\\YM', supply: { vec: [] } },
        },
      },
    ],
  };
}

async function fill(scratch: ScratchDatabase, count: number, firstVersion = 1): Promise<void> {
  const ledger = createAptosLedger({
    transactions: Array.from({ length: count }, (_, index) => ({
      ...coinAt(firstVersion + index, `0xa::coin_${index}::Coin`),
    })),
  });
  const transactions = ledger.recorded.map((version) =>
    parseTransaction(JSON.parse(ledger.transaction(version).toString('utf8'))),
  );
  await scratch.database.transaction(async (transaction) => {
    await coins.derive({ network: 'mainnet', transactions, blockHeight: () => 0 }).write(transaction);
    await recordCoverage(transaction, 'mainnet', ['coins'], { from: 0, to: firstVersion + count });
    await recordCoverage(transaction, 'mainnet', ['transfers'], { from: 50, to: 60 });
  });
}

async function linesOf(scratch: ScratchDatabase): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportCoins(scratch.database, 'mainnet')) lines.push(line.slice(0, -1));
  return lines;
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

const load = (lines: readonly string[], trustCoverage = false) =>
  importCoins({ database: target.database, lines: each(lines), trustCoverage });
const rowsOf = ({ database }: ScratchDatabase) =>
  database.query(sql`SELECT * FROM aptos_coins ORDER BY transaction_version, coin_type_hash`);

describe('a file of coins', () => {
  it('carries every coin from one database to another, any number of times', async () => {
    await fill(source, COINS);
    const lines = await linesOf(source);
    expect(lines).toHaveLength(COINS + 2);
    expect(await load(lines)).toEqual({
      network: 'mainnet',
      coins: COINS,
      added: COINS,
      claimed: [{ from: 0, to: COINS + 1 }],
      trusted: false,
    });
    expect(await load(lines)).toMatchObject({ added: 0 });
    expect(await rowsOf(target)).toEqual(await rowsOf(source));
    expect(await linesOf(target)).toEqual([expect.stringContaining('"covered":[]'), ...lines.slice(1)]);
  });

  it('counts as covered only where it is trusted', async () => {
    await fill(source, 3);
    const lines = await linesOf(source);
    await load(lines);
    expect(await listCoverage(target.database, 'mainnet')).toEqual([]);
    await load(lines, true);
    expect(await listCoverage(target.database, 'mainnet')).toEqual([
      { dataset: 'coins', range: { from: 0, to: 4 } },
    ]);
  });

  it('leaves the earlier version of a coin that is there', async () => {
    await fill(source, 3, 100);
    const later = await linesOf(source);
    await fill(target, 2, 50);
    await load(later);
    const versions = (await rowsOf(target)).map((row) => row.transactionVersion);
    expect(versions).toEqual([50, 51, 102]);
    await fill(source, 1, 10);
    await load(await linesOf(source));
    expect((await rowsOf(target)).map((row) => row.transactionVersion)).toEqual([10, 51, 102]);
  });

  it.each<[string, (lines: string[]) => string[], string]>([
    ['is cut off', (lines) => lines.slice(0, -1), 'the file was cut off'],
    ['is cut off in a line', (lines) => [...lines.slice(0, 2), lines[2]?.slice(0, 40) ?? ''], 'Line 3'],
    ['lacks a coin', (lines) => lines.toSpliced(2, 1), 'counts 3 coins, and there are 2'],
    ['gives a coin twice', (lines) => lines.toSpliced(2, 0, lines[1] ?? ''), 'Line 3'],
    ['has no header', (lines) => lines.slice(1), 'Line 1'],
    ['is empty', () => [], 'Line 1'],
    ['has another hash', (lines) => change(lines, (coin) => ({ ...coin, coin_type: '0xa::x::Y' })), 'hash'],
    [
      'has another creator',
      (lines) => change(lines, (coin) => ({ ...coin, creator_address: `0x${'b'.repeat(64)}` })),
      'creator',
    ],
    ['has a long symbol', (lines) => change(lines, (coin) => ({ ...coin, symbol: 'ABCDEFGHIJK' })), 'symbol'],
    ['has an unknown member', (lines) => change(lines, (coin) => ({ ...coin, more: 1 })), 'Line 2'],
    [
      'has half an aggregator',
      (lines) => change(lines, (coin) => ({ ...coin, supply_aggregator_table_key: `0x${'1'.repeat(64)}` })),
      'half',
    ],
    ['goes on after its end', (lines) => [...lines, lines[1] ?? ''], 'after the end'],
  ])('that %s imports nothing', async (_, damage, said) => {
    await fill(source, 3);
    await expect(load(damage(await linesOf(source)))).rejects.toThrow(said);
    expect(await rowsOf(target)).toEqual([]);
  });
});

/** Changes the first coin. */
function change(lines: string[], edit: (coin: Record<string, unknown>) => object): string[] {
  const coin = JSON.parse(lines[1] ?? '{}') as Record<string, unknown>;
  return lines.with(1, JSON.stringify(edit(coin)));
}

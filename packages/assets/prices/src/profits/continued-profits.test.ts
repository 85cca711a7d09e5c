/** Profits that continue from stored sums, against those from all swaps: after new and changed swaps, reorgs, other proofs and prices. */
import { hexBytes, runStatements, type Sql, sql, statementOf } from '@chainstead/db';
import { changeRows, replaceTrades, traderSumsOfSwaps } from '@chainstead/markets/testing';
import { addressOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { continueWalletProfits } from './continued-profits.ts';
import { realizedProfit } from './profit-sum.ts';
import {
  ANN,
  BOB,
  cats,
  dollars,
  eth,
  ether,
  profitRoutesOfFile,
  type Swapped,
  seedDollars,
  seedTrades,
} from './testing/profit-stage.ts';
import { readWalletProfits } from './wallet-profits.ts';

const { scratch } = profitRoutesOfFile();
const SETTLED = 1_000;
const { signal } = new AbortController();
const QUESTIONS = [null, 1].map((days) => ({ wallet: ANN, tokens: null, days }));

/** Forty purchases and sales before the settled block, in pools against a dollar token and ether, and two after it. */
const SWAPS: readonly Swapped[] = Array.from({ length: 42 }, (_, place) => {
  const block = place < 40 ? 20 + place * 20 : SETTLED + place;
  const paid = place % 4 === 1 ? ether(place + 1) : dollars(place + 2);
  return place % 3 === 2
    ? { block, gave: cats(place), got: paid }
    : { block, gave: paid, got: cats(2 * place + 1), ...(place % 5 === 0 && { wallet: BOB, beneficiary: ANN }) };
});

beforeEach(async () => {
  const { database } = scratch;
  await database.query(sql`TRUNCATE sync_chains`);
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint, finalized) VALUES (${eth.id}, 0, 0, ${SETTLED + 50}, ${SETTLED})`,
  );
  await seedDollars(database, 'ETH', 0, 2_000n);
  await seedTrades(database, SWAPS);
});

const continued = () =>
  Promise.all(
    QUESTIONS.map((query) =>
      continueWalletProfits(scratch.database, eth, query, { signal, part: 3, partsPerStore: 2 }),
    ),
  );
const whole = () =>
  Promise.all(QUESTIONS.map((query) => readWalletProfits(scratch.database, eth, query, { swapsMax: 1_000 })));

async function stored(): Promise<number> {
  const [row] = await scratch.database.query<{ readonly n: number }>(
    sql`SELECT count(sums)::int AS n FROM trader_sums`,
  );
  return row?.n ?? 0;
}

const change = (kind: 'added' | 'removed', table: 'swaps' | 'feed_answers', block: number) =>
  changeRows(scratch.database, kind, table, block);

test('a settled swap is read once, and later ones are added to stored sums', async () => {
  const before = await whole();
  expect(await continued()).toEqual(before);
  expect(await stored()).toBe(QUESTIONS.length);
  // As if they could not be read any more: no change of rows is reported.
  await scratch.database.query(sql`DELETE FROM swaps WHERE block_number <= ${SETTLED}`);
  expect(await continued()).toEqual(before);
  await seedTrades(scratch.database, [{ block: SETTLED + 100, gave: cats(3), got: dollars(900) }]);
  const [first] = await continued();
  expect(first?.sums.get(cats(1)[1])?.sells).toBe((before[0]?.sums.get(cats(1)[1])?.sells ?? 0) + 1);
});

test('an aborted reading continues from its stored part', async () => {
  const [query] = QUESTIONS;
  if (query === undefined) throw new Error('No question');
  const ending = new AbortController();
  let parts = 0;
  const database = {
    ...scratch.database,
    select: ((statement: Sql) => {
      if (statementOf(statement).text.includes('numbered AS MATERIALIZED') && ++parts === 6)
        ending.abort(new Error('It takes too long'));
      return scratch.database.select(statement);
    }) as typeof scratch.database.select,
  };
  const reading = { part: 3, partsPerStore: 2 };
  await expect(
    continueWalletProfits(database, eth, query, { ...reading, signal: ending.signal }),
  ).rejects.toThrow('It takes too long');
  const aborted = parts;
  expect(await continueWalletProfits(database, eth, query, { ...reading, signal })).toEqual((await whole())[0]);
  expect(aborted).toBe(6);
  // 14 parts of settled swaps, of which four were stored, and one of later swaps.
  expect(parts - aborted).toBeLessThanOrEqual(12);
});

describe('stored sums are summed again', () => {
  beforeEach(async () => {
    await continued();
    expect(await stored()).toBe(QUESTIONS.length);
  });

  const cases: readonly (readonly [name: string, change: () => Promise<unknown>])[] = [
    ['after a swap of an earlier block is removed', () => change('removed', 'swaps', 60)],
    [
      'after a swap of an earlier block is added, of which the wallet is the beneficiary',
      async () => {
        await seedTrades(scratch.database, [
          { block: 75, wallet: BOB, beneficiary: ANN, gave: ether(3), got: cats(9) },
        ]);
        await change('added', 'swaps', 75);
      },
    ],
    [
      'after a reorg below their last block',
      async () => {
        await scratch.database.query(sql`DELETE FROM swaps WHERE block_number > 500`);
        await runStatements(scratch.database, traderSumsOfSwaps.rolledBack?.(eth.id, 500) ?? []);
      },
    ],
    [
      'after a pool is disproved',
      () =>
        scratch.database.transaction(async (transaction) => {
          const pool = addressOf(0x9a2);
          await transaction.query(
            sql`UPDATE pools SET status = 'disproved', is_counted = false WHERE pool = ${hexBytes(pool)}`,
          );
          await replaceTrades(transaction, eth.id, pool);
        }),
    ],
    [
      'after a price of an earlier block is added',
      async () => {
        await seedDollars(scratch.database, 'ETH', 300, 3_000n);
        await change('added', 'feed_answers', 300);
      },
    ],
    [
      'if the decimals of an anchor change',
      () => scratch.database.query(sql`UPDATE tokens SET decimals = 7 WHERE symbol = 'USDC'`),
    ],
  ];
  test.each(cases)('%s', async (_name, perform) => {
    const before = await continued();
    await perform();
    const now = await continued();
    expect(now).toEqual(await whole());
    expect(now).not.toEqual(before);
    expect(await continued()).toEqual(now);
  });

  test('not after changes of others, or of later blocks', async () => {
    await seedTrades(scratch.database, [
      { block: 33, wallet: BOB, gave: ether(3), got: cats(9) },
      { block: SETTLED + 7, gave: ether(3), got: cats(9) },
    ]);
    await seedDollars(scratch.database, 'ETH', SETTLED + 3, 3_000n);
    for (const block of [33, SETTLED + 7]) await change('added', 'swaps', block);
    await change('added', 'feed_answers', SETTLED + 3);
    expect(await stored()).toBe(QUESTIONS.length);
    expect(await continued()).toEqual(await whole());
  });
});

test('sums with a swap whose price may be known later are not stored', async () => {
  await scratch.database.query(sql`TRUNCATE feed_answers`);
  await seedDollars(scratch.database, 'USDC', 0, 1n);
  const found = await continued();
  expect(found[0]?.unvaluedBlocks.length).toBeGreaterThan(0);
  expect(await stored()).toBe(0);
  await seedDollars(scratch.database, 'ETH', 0, 2_000n);
  expect(await continued()).toEqual(await whole());
});

test('profits are the same in any order of arrival, with reorgs, and equal received less invested once nothing is left', async () => {
  const { database } = scratch;
  const trade = fc.record({
    isPurchase: fc.boolean(),
    amount: fc.integer({ min: 1, max: 900 }),
    paid: fc.integer({ min: 1, max: 900 }),
  });
  const schedule = fc.record({
    list: fc.array(trade, { minLength: 3, maxLength: 9 }),
    order: fc.array(fc.nat(), { minLength: 10, maxLength: 10 }),
    reorgAt: fc.nat(9),
  });
  await fc.assert(
    fc.asyncProperty(schedule, async ({ list, order, reorgAt }) => {
      await database.query(sql`TRUNCATE swaps, trades, blocks, trader_sums`);
      const trades = sellingAll(list);
      const late = trades.toSorted((one, other) => (order[one.place] ?? 0) - (order[other.place] ?? 0));
      for (const [step, { swapped, place }] of late.entries()) {
        await seedTrades(database, [swapped]);
        await change('added', 'swaps', swapped.block);
        if (step === reorgAt) {
          // The same swaps come again on the new branch, after a reading without them.
          await database.query(sql`DELETE FROM trades WHERE block_number >= ${swapped.block}`);
          await database.query(sql`DELETE FROM swaps WHERE block_number >= ${swapped.block}`);
          await runStatements(database, traderSumsOfSwaps.rolledBack?.(eth.id, swapped.block - 1) ?? []);
          expect(await continued()).toEqual(await whole());
          for (const again of late.slice(0, step + 1).filter((one) => one.place >= place)) {
            await seedTrades(database, [again.swapped]);
            await change('added', 'swaps', again.swapped.block);
          }
        }
        if (step % 3 === 1) expect(await continued()).toEqual(await whole());
      }
      const [all] = await continued();
      expect(all).toEqual((await whole())[0]);
      const sum = all?.sums.get(cats(1)[1]);
      if (sum === undefined) throw new Error('The wallet has no trade');
      expect([sum.bought, realizedProfit(sum)]).toEqual([sum.sold, sum.received - sum.invested]);
    }),
    { numRuns: 12, seed: 60 },
  );
});

/** Trades without a sale of more than is held; the last one sells the rest. Each is in a separate block. */
function sellingAll(
  list: readonly { readonly isPurchase: boolean; readonly amount: number; readonly paid: number }[],
) {
  let held = 0;
  const trades = list.map(({ isPurchase: wants, amount, paid }) => {
    const isPurchase = wants || amount > held;
    held += isPurchase ? amount : -amount;
    return { isPurchase, amount, paid };
  });
  if (held > 0) trades.push({ isPurchase: false, amount: held, paid: 777 });
  return trades.map(({ isPurchase, amount, paid }, place) => {
    const block = 10 + place * 20;
    const swapped: Swapped = isPurchase
      ? { block, gave: dollars(paid), got: cats(amount) }
      : { block, gave: cats(amount), got: dollars(paid) };
    return { place, swapped };
  });
}

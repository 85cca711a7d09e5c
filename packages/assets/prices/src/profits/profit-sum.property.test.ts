/** Profit sums against a recomputation with whole lists of trades and exact fractions. */
import { addFractions, type Fraction, multiplyFractions, wholeFraction } from '@chainstead/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addTrade, emptyProfitSum, realizedProfit, type TokenTrade } from './profit-sum.ts';

const trades = fc
  .tuple(
    fc.array(
      fc.record({
        isPurchase: fc.boolean(),
        amount: fc.bigInt(1n, 10n ** 30n),
        value: fc.bigInt(0n, 10n ** 36n),
      }),
      { maxLength: 30 },
    ),
    fc.nat(30),
  )
  .map(([list, windowStart]) =>
    list.map((one, place): TokenTrade => ({ ...one, isInWindow: place >= windowStart })),
  );

const total = (list: readonly TokenTrade[], member: 'amount' | 'value') =>
  list.reduce((sum, one) => sum + one[member], 0n);

interface Recomputed {
  readonly profit: Fraction;
  readonly cost: Fraction;
  readonly covered: bigint;
}

/** Recomputes every sale with exact averages of what is held. */
function recomputed(list: readonly TokenTrade[]): Recomputed {
  const lots = [true, false].map((isInWindow) => ({ isInWindow, amount: 0n, cost: wholeFraction(0n) }));
  let found: Recomputed = { profit: wholeFraction(0n), cost: wholeFraction(0n), covered: 0n };
  for (const { isPurchase, amount, value, isInWindow } of list) {
    if (isPurchase) {
      for (const lot of lots.filter((one) => one.isInWindow === isInWindow)) {
        lot.amount += amount;
        lot.cost = addFractions(lot.cost, wholeFraction(value));
      }
      continue;
    }
    let left = amount;
    let cost = wholeFraction(0n);
    for (const lot of lots) {
      const taken = left < lot.amount ? left : lot.amount;
      const share = taken === 0n ? wholeFraction(0n) : { numerator: taken, denominator: lot.amount };
      const paid = multiplyFractions(lot.cost, share);
      left -= taken;
      lot.amount -= taken;
      lot.cost = addFractions(lot.cost, multiplyFractions(paid, wholeFraction(-1n)));
      cost = addFractions(cost, paid);
    }
    const covered = amount - left;
    if (!isInWindow || covered === 0n) continue;
    const gained = { numerator: covered * value, denominator: amount };
    found = {
      profit: addFractions(found.profit, addFractions(gained, multiplyFractions(cost, wholeFraction(-1n)))),
      cost: addFractions(found.cost, cost),
      covered: found.covered + covered,
    };
  }
  return found;
}

/** Whether a sum of values that are each rounded is the exact one. */
function expectRounded(value: bigint, { numerator, denominator }: Fraction, roundings: number): void {
  const difference = value * denominator - numerator;
  const size = difference < 0n ? -difference : difference;
  expect(2n * size <= BigInt(roundings) * denominator).toBe(true);
}

test('a sum is the recomputed profit, except for the roundings of each sale', () => {
  fc.assert(
    fc.property(trades, (list) => {
      const sum = emptyProfitSum();
      for (const one of list) addTrade(sum, one);
      const { profit, cost, covered } = recomputed(list);
      const shown = list.filter(({ isInWindow }) => isInWindow);
      const [buys, sells] = [
        shown.filter(({ isPurchase }) => isPurchase),
        shown.filter(({ isPurchase }) => !isPurchase),
      ];
      expect(sum).toMatchObject({
        ...{ buys: buys.length, bought: total(buys, 'amount'), invested: total(buys, 'value') },
        ...{ sells: sells.length, sold: total(sells, 'amount'), received: total(sells, 'value') },
        covered,
      });
      // A rounded cost changes those of later sales, also before the window, by less than itself.
      expectRounded(sum.cost, cost, 2 * list.length);
      expectRounded(realizedProfit(sum), profit, 3 * list.length);
    }),
    { numRuns: 1_000 },
  );
});

test('a purchase of no amount in the window adds its value to the cost', () => {
  const sum = emptyProfitSum();
  addTrade(sum, { isPurchase: true, amount: 1n, value: 0n, isInWindow: false });
  addTrade(sum, { isPurchase: true, amount: 0n, value: 1n, isInWindow: true });
  addTrade(sum, { isPurchase: false, amount: 1n, value: 0n, isInWindow: true });
  expect(sum).toMatchObject({ cost: 1n, covered: 1n, invested: 1n });
});

test('the profit of sold purchases does not depend on the order of purchases', () => {
  const purchase = fc.record({ amount: fc.bigInt(1n, 10n ** 30n), value: fc.bigInt(0n, 10n ** 36n) });
  fc.assert(
    fc.property(fc.array(purchase, { minLength: 1 }), fc.bigInt(1n, 10n ** 31n), (list, amount) => {
      const profitOf = (purchases: typeof list) => {
        const sum = emptyProfitSum();
        for (const one of purchases) addTrade(sum, { ...one, isPurchase: true, isInWindow: true });
        addTrade(sum, { amount, value: 10n ** 30n, isPurchase: false, isInWindow: true });
        return realizedProfit(sum);
      };
      expect(profitOf(list.toReversed())).toBe(profitOf(list));
    }),
  );
});

test('once no bought token is left, the profit is the received less the invested value, with transferred tokens too', () => {
  const trade = fc.record({
    isPurchase: fc.boolean(),
    amount: fc.bigInt(1n, 1_000n),
    value: fc.bigInt(0n, 10n ** 36n),
  });
  fc.assert(
    fc.property(
      fc.array(trade, { minLength: 1 }),
      fc.nat(30),
      fc.bigInt(0n, 10n ** 36n),
      (list, start, value) => {
        const sum = emptyProfitSum();
        let held = 0n;
        let paidBefore = 0n;
        for (const [place, one] of list.entries()) {
          const isInWindow = place >= start;
          // A sale of more than is held sells tokens that came by a transfer.
          held = one.isPurchase ? held + one.amount : held > one.amount ? held - one.amount : 0n;
          addTrade(sum, { ...one, isInWindow });
          if (!isInWindow) paidBefore = sum.earlier.cost;
        }
        if (held > 0n) addTrade(sum, { isPurchase: false, amount: held, value, isInWindow: true });
        expect([sum.inWindow, sum.earlier]).toEqual([
          { amount: 0n, cost: 0n },
          { amount: 0n, cost: 0n },
        ]);
        expect(realizedProfit(sum)).toBe(sum.coveredValue - sum.invested - paidBefore);
      },
    ),
  );
});

test('once nothing is left, the profit is the received less the invested value', () => {
  const trade = fc.record({
    isPurchase: fc.boolean(),
    amount: fc.bigInt(1n, 10n ** 30n),
    value: fc.bigInt(0n, 10n ** 36n),
  });
  fc.assert(
    fc.property(fc.array(trade, { minLength: 1 }), fc.bigInt(0n, 10n ** 36n), (list, value) => {
      const sum = emptyProfitSum();
      let held = 0n;
      for (const one of list) {
        // No sale of more than is held.
        const isPurchase = one.isPurchase || one.amount > held;
        held += isPurchase ? one.amount : -one.amount;
        addTrade(sum, { ...one, isPurchase, isInWindow: true });
      }
      if (held > 0n) addTrade(sum, { isPurchase: false, amount: held, value, isInWindow: true });
      expect(realizedProfit(sum)).toBe(sum.received - sum.invested);
    }),
  );
});

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
        amount: fc.bigInt(0n, 10n ** 30n),
        value: fc.bigInt(0n, 10n ** 36n),
      }),
      { maxLength: 30 },
    ),
    fc.nat(30),
  )
  .map(([list, windowStart]) => list.map((one, place): TokenTrade => ({ ...one, isInWindow: place >= windowStart })));

const total = (list: readonly TokenTrade[], member: 'amount' | 'value') =>
  list.reduce((sum, one) => sum + one[member], 0n);

interface Recomputed {
  readonly profit: Fraction;
  readonly cost: Fraction;
  readonly covered: bigint;
}

/** Recomputes every sale from the trades before it. */
function recomputed(list: readonly TokenTrade[]): Recomputed {
  const coveredOf: bigint[] = [];
  let found: Recomputed = { profit: wholeFraction(0n), cost: wholeFraction(0n), covered: 0n };
  for (const [place, sale] of list.entries()) {
    if (sale.isPurchase) {
      coveredOf.push(0n);
      continue;
    }
    const before = list.slice(0, place);
    const purchases = before.filter(({ isPurchase }) => isPurchase);
    const left = total(purchases, 'amount') - coveredOf.reduce((sum, one) => sum + one, 0n);
    const covered = sale.amount < left ? sale.amount : left;
    coveredOf.push(covered);
    if (!sale.isInWindow || covered === 0n) continue;
    const inWindow = purchases.filter(({ isInWindow }) => isInWindow);
    const basis = total(inWindow, 'amount') > 0n ? inWindow : purchases;
    const cost = { numerator: covered * total(basis, 'value'), denominator: total(basis, 'amount') };
    const gained = { numerator: covered * sale.value, denominator: sale.amount };
    const loss = multiplyFractions(cost, wholeFraction(-1n));
    found = {
      profit: addFractions(found.profit, addFractions(gained, loss)),
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

test('a sum is the recomputed profit, except for one rounding per figure of each sale', () => {
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
      expectRounded(sum.cost, cost, sells.length);
      expectRounded(realizedProfit(sum), profit, 2 * sells.length);
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

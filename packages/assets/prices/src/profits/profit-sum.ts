/**
 * Realized profit of one wallet in one token. Amounts are base units; values are units of `DOLLAR`.
 * A sale takes its share of the cost of the tokens held then, of those bought in the window first.
 */

/** Sums of the trades so far. Add trades in chain order. */
export interface ProfitSum {
  /** Purchases and sales in the window: number, amount and value. */
  buys: number;
  bought: bigint;
  invested: bigint;
  sells: number;
  sold: bigint;
  received: bigint;
  /** Bought tokens that no sale has covered yet: purchases in the window, and before it. */
  readonly inWindow: { amount: bigint; cost: bigint };
  readonly earlier: { amount: bigint; cost: bigint };
  /** Part of `sold` that was bought before, with its share of `received`, and its cost. */
  covered: bigint;
  coveredValue: bigint;
  cost: bigint;
}

export interface TokenTrade {
  readonly isPurchase: boolean;
  readonly amount: bigint;
  readonly value: bigint;
  readonly isInWindow: boolean;
}

export function emptyProfitSum(): ProfitSum {
  return {
    ...{ buys: 0, bought: 0n, invested: 0n, sells: 0, sold: 0n, received: 0n },
    ...{ covered: 0n, coveredValue: 0n, cost: 0n },
    ...{ inWindow: { amount: 0n, cost: 0n }, earlier: { amount: 0n, cost: 0n } },
  };
}

/** Adds a trade to a sum, in place: a request may add 100,000. */
export function addTrade(sum: ProfitSum, trade: TokenTrade): void {
  if (trade.isPurchase) addPurchase(sum, trade);
  else addSale(sum, trade);
}

/** Joins sums of different tokens, for totals in US dollars. Amounts of different tokens are meaningless. */
export function joinProfits(a: ProfitTotals, b: ProfitTotals): ProfitTotals {
  return {
    buys: a.buys + b.buys,
    sells: a.sells + b.sells,
    invested: a.invested + b.invested,
    received: a.received + b.received,
    coveredValue: a.coveredValue + b.coveredValue,
    cost: a.cost + b.cost,
  };
}

/** Orders numbers and texts, ascending. */
export function compare<Value extends bigint | string>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export type ProfitTotals = Readonly<
  Pick<ProfitSum, 'buys' | 'sells' | 'invested' | 'received' | 'coveredValue' | 'cost'>
>;

/** Units of `DOLLAR`; negative for a loss. */
export function realizedProfit({ coveredValue, cost }: Pick<ProfitSum, 'coveredValue' | 'cost'>): bigint {
  return coveredValue - cost;
}

function addPurchase(sum: ProfitSum, { amount, value, isInWindow }: TokenTrade): void {
  const held = isInWindow ? sum.inWindow : sum.earlier;
  held.amount += amount;
  held.cost += value;
  if (!isInWindow) return;
  sum.buys += 1;
  sum.bought += amount;
  sum.invested += value;
}

function addSale(sum: ProfitSum, { amount, value, isInWindow }: TokenTrade): void {
  const { inWindow, earlier } = sum;
  const held = inWindow.amount + earlier.amount;
  const covered = amount < held ? amount : held;
  const ofWindow = covered < inWindow.amount ? covered : inWindow.amount;
  let cost = 0n;
  // A purchase of no amount still has a value. Dust trades have such logs.
  if (covered > 0n) cost += take(inWindow, ofWindow);
  if (covered > ofWindow) cost += take(earlier, covered - ofWindow);
  if (!isInWindow) return;
  sum.sells += 1;
  sum.sold += amount;
  sum.received += value;
  sum.covered += covered;
  sum.coveredValue += covered === amount ? value : rounded(value * covered, amount);
  sum.cost += cost;
}

/** Takes an amount out of the held tokens. @returns its cost: the rest keeps the same average */
function take(held: ProfitSum['inWindow'], amount: bigint): bigint {
  const cost = amount === held.amount ? held.cost : rounded(held.cost * amount, held.amount);
  held.amount -= amount;
  held.cost -= cost;
  return cost;
}

/** Half up, of numbers of at least zero. */
function rounded(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator);
}

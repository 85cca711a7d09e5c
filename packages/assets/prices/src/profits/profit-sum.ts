/**
 * Realized profit of a wallet in a token. Amounts are base units, values are `DOLLAR` units.
 * A sale takes its share of the cost of held tokens, of those bought in the window first.
 */

/** Add trades in chain order. */
export interface ProfitSum {
  buys: number;
  bought: bigint;
  invested: bigint;
  sells: number;
  sold: bigint;
  received: bigint;
  /** Bought tokens that no sale has covered yet: in the window, and before it. */
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

export function addTrade(sum: ProfitSum, trade: TokenTrade): void {
  if (trade.isPurchase) addPurchase(sum, trade);
  else addSale(sum, trade);
}

/** For totals in US dollars: sums of amounts of different tokens are meaningless. */
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

export function compare<Value extends bigint | string>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export type ProfitTotals = Readonly<
  Pick<ProfitSum, 'buys' | 'sells' | 'invested' | 'received' | 'coveredValue' | 'cost'>
>;

/** `DOLLAR` units; negative: a loss. */
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
  // A purchase of no amount still has a value: dust trades have such logs.
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

/** @returns its cost: the rest keeps the average */
function take(held: ProfitSum['inWindow'], amount: bigint): bigint {
  const cost = amount === held.amount ? held.cost : rounded(held.cost * amount, held.amount);
  held.amount -= amount;
  held.cost -= cost;
  return cost;
}

function rounded(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator);
}

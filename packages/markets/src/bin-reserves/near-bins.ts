/** Tokens of a bin, or a change of them. */
export interface BinAmounts {
  readonly bin: number;
  /** Base units of token X and token Y. */
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** The tokens in the bins of a Liquidity Book pair, while they change. */
export interface BinBook {
  change(change: BinAmounts): void;
  /**
   * Returns the base units of token X in the bins from the active one to `reach` bins above it, and of token Y down to `reach` bins below it. Other
   * tokens are not for sale near the price: token X lies at higher prices, and token Y at lower ones.
   */
  near(activeId: number, reach: number): readonly [bigint, bigint];
}

const BASIS_POINTS = 10_000n;

/**
 * Returns the number of bins above or below the active one whose price is at most a factor of 1.1 away.
 * @param binStep basis points between the prices of two bins
 */
export function binsWithinTenth(binStep: number): number {
  if (!Number.isInteger(binStep) || binStep < 1) return 0;
  const step = BASIS_POINTS + BigInt(binStep);
  let bins = 0;
  for (let [price, one] = [step, BASIS_POINTS]; 10n * price <= 11n * one; price *= step, one *= BASIS_POINTS) bins++;
  return bins;
}

/**
 * Returns a pair without tokens. A change and a sum take as many steps as the number of bins has binary digits: each sum covers a power of two of
 * them (a Fenwick tree).
 * @param all the bins that change at any time, in any order; others are a RangeError
 */
export function createBinBook(all: Iterable<number>): BinBook {
  const bins = [...new Set(all)].toSorted((one, other) => one - other);
  const places = new Map(bins.map((bin, place) => [bin, place]));
  const sums = bins.map(() => ({ amount0: 0n, amount1: 0n }));

  /** Sums of the first so many bins. */
  function first(count: number): readonly [bigint, bigint] {
    let [amount0, amount1] = [0n, 0n];
    for (let end = count; end > 0; end -= end & -end) {
      amount0 += sums[end - 1]?.amount0 ?? 0n;
      amount1 += sums[end - 1]?.amount1 ?? 0n;
    }
    return [amount0, amount1];
  }

  return {
    change({ bin, amount0, amount1 }) {
      const place = places.get(bin);
      if (place === undefined) throw new RangeError(`Bin ${bin} is not among the pair's`);
      for (let end = place + 1; end <= sums.length; end += end & -end) {
        const sum = sums[end - 1];
        if (sum === undefined) break;
        sum.amount0 += amount0;
        sum.amount1 += amount1;
      }
    },
    near(activeId, reach) {
      const [upper0] = first(countBelow(bins, activeId + reach + 1));
      const [lower0] = first(countBelow(bins, activeId));
      const [, upper1] = first(countBelow(bins, activeId + 1));
      const [, lower1] = first(countBelow(bins, activeId - reach));
      return [positive(upper0 - lower0), positive(upper1 - lower1)];
    },
  };
}

/** Number of the sorted bins below one. */
function countBelow(bins: readonly number[], bin: number): number {
  let [low, high] = [0, bins.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bins[middle] ?? bin) < bin) low = middle + 1;
    else high = middle;
  }
  return low;
}

function positive(value: bigint): bigint {
  return value < 0n ? 0n : value;
}

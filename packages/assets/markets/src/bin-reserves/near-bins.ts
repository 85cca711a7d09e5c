export interface BinAmounts {
  readonly bin: number;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

const BASIS_POINTS = 10_000n;

/** Bins within a factor of 1.1 of the active one. `binStep`: basis points. */
export function binsWithinTenth(binStep: number): number {
  if (!Number.isInteger(binStep) || binStep < 1) return 0;
  const step = BASIS_POINTS + BigInt(binStep);
  let bins = 0;
  for (let [price, unit] = [step, BASIS_POINTS]; 10n * price <= 11n * unit; price *= step, unit *= BASIS_POINTS)
    bins++;
  return bins;
}

/** A Fenwick tree. @throws RangeError for a bin that is not in `all` */
export function createBinBook(all: Iterable<number>) {
  const bins = [...new Set(all)].toSorted((left, right) => left - right);
  const indexOf = new Map(bins.map((bin, index) => [bin, index]));
  const sums = bins.map(() => ({ amount0: 0n, amount1: 0n }));

  function sumOfFirst(count: number): readonly [bigint, bigint] {
    let [amount0, amount1] = [0n, 0n];
    for (let end = count; end > 0; end -= end & -end) {
      amount0 += sums[end - 1]?.amount0 ?? 0n;
      amount1 += sums[end - 1]?.amount1 ?? 0n;
    }
    return [amount0, amount1];
  }

  return {
    change({ bin, amount0, amount1 }: BinAmounts): void {
      const index = indexOf.get(bin);
      if (index === undefined) throw new RangeError(`Bin ${bin} is not among the pair's`);
      for (let end = index + 1; end <= sums.length; end += end & -end) {
        const sum = sums[end - 1];
        if (sum === undefined) break;
        sum.amount0 += amount0;
        sum.amount1 += amount1;
      }
    },
    /** Base units of X in bins from the active one up, and of Y down: others are not for sale. */
    near(activeId: number, reach: number): readonly [bigint, bigint] {
      const [upper0] = sumOfFirst(countBelow(bins, activeId + reach + 1));
      const [lower0] = sumOfFirst(countBelow(bins, activeId));
      const [, upper1] = sumOfFirst(countBelow(bins, activeId + 1));
      const [, lower1] = sumOfFirst(countBelow(bins, activeId - reach));
      return [positive(upper0 - lower0), positive(upper1 - lower1)];
    },
  };
}

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

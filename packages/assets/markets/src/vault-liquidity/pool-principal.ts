import { sqrtPriceAtTick } from './tick-math.ts';

export interface TickChange {
  readonly tick: number;
  /** Signed change of the liquidity in range when the price rises across the tick. */
  readonly net: bigint;
}

/**
 * At price √p, token 1 is the sum of net·(√p − √t) over ticks t up to it. Token 0 is liquidity
 * in range / √p, plus the sum of net / √t above. Kept sums make a change one step.
 * @throws RangeError for a tick that is not in `all`
 */
export function createPoolPrincipal(all: Iterable<number>) {
  const ticks = [...new Set(all)]
    .toSorted((lower, upper) => lower - upper)
    .map((tick): TickSum => ({ tick, root: sqrtPriceAtTick(tick), net: 0n }));
  const indexOf = new Map(ticks.map(({ tick }, index) => [tick, index]));
  let crossed = 0;
  /** Sums of net and net·√t of crossed ticks, and of net / √t of others. */
  let [liquidity, paid, above] = [0n, 0n, 0n];

  function moveTo(tick: number): void {
    for (let sum = ticks[crossed]; sum !== undefined && sum.tick <= tick; sum = ticks[++crossed]) {
      above -= inverseOf(sum, sum.net);
      liquidity += sum.net;
      paid += sum.net * sum.root;
    }
    for (let sum = ticks[crossed - 1]; sum !== undefined && sum.tick > tick; sum = ticks[--crossed - 1]) {
      above += inverseOf(sum, sum.net);
      liquidity -= sum.net;
      paid -= sum.net * sum.root;
    }
  }

  return {
    change({ tick, net }: TickChange): void {
      const index = indexOf.get(tick);
      const sum = index === undefined ? undefined : ticks[index];
      if (index === undefined || sum === undefined) throw new RangeError(`Tick ${tick} is not among the pool's`);
      if (index < crossed) {
        liquidity += net;
        paid += net * sum.root;
      } else above += inverseOf(sum, sum.net + net) - inverseOf(sum, sum.net);
      sum.net += net;
    },
    /** Base units, rounded down. One step per tick that the price crossed since the last call. */
    at({ sqrtPriceX96, tick }: { readonly sqrtPriceX96: bigint; readonly tick: number }) {
      moveTo(tick);
      if (sqrtPriceX96 === 0n) return { liquidity: 0n, amounts: [0n, 0n] as const };
      const amount0 = ((liquidity << PRECISION) / sqrtPriceX96 + above) >> (PRECISION - 96n);
      const amount1 = (sqrtPriceX96 * liquidity - paid) >> 96n;
      return { liquidity: positive(liquidity), amounts: [positive(amount0), positive(amount1)] as const };
    },
  };
}

interface TickSum {
  readonly tick: number;
  /** √t times 2^96. */
  readonly root: bigint;
  net: bigint;
}

/** Bits of the inverses of roots: the error of a tick is below 2^-32 base units. */
const PRECISION = 256n;

function inverseOf({ root }: TickSum, net: bigint): bigint {
  const product = net << PRECISION;
  const quotient = product / root;
  return product < 0n && quotient * root !== product ? quotient - 1n : quotient;
}

function positive(value: bigint): bigint {
  return value < 0n ? 0n : value;
}

import { sqrtPriceAtTick } from './tick-math.ts';

export interface TickChange {
  readonly tick: number;
  /** Signed change of the liquidity in range when the price rises across the tick. */
  readonly net: bigint;
}

/**
 * For a price √p and positions as net liquidity at ticks t: token 1 is the sum of net·(√p − √t) at ticks up to the
 * price. Token 0 is the liquidity in range / √p, and the sum of net / √t at ticks above it. Both sums are kept, so that
 * a change is one step. Ticks that are not among `all` are a RangeError.
 */
export function createPoolPrincipal(all: Iterable<number>) {
  const ticks = [...new Set(all)]
    .toSorted((lower, upper) => lower - upper)
    .map((tick): TickSum => ({ tick, root: sqrtPriceAtTick(tick), net: 0n }));
  const indexOf = new Map(ticks.map(({ tick }, index) => [tick, index]));
  /** Number of ticks up to the price. */
  let crossed = 0;
  /** Sums of net and net·√t of these, and of net / √t of the others. */
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
    /** Base units, rounded down. Takes a step for each tick with liquidity that the price crossed since the last call. */
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

/** Rounded down, so that the amount never exceeds the pool's. */
function inverseOf({ root }: TickSum, net: bigint): bigint {
  const product = net << PRECISION;
  const quotient = product / root;
  return product < 0n && quotient * root !== product ? quotient - 1n : quotient;
}

function positive(value: bigint): bigint {
  return value < 0n ? 0n : value;
}

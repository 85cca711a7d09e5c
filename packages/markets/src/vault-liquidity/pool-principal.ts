import { sqrtPriceAtTick } from './tick-math.ts';

/** The positions' tokens at a price, without fees. */
export interface Principal {
  /** Liquidity in range. */
  readonly liquidity: bigint;
  /** Base units of token 0 and token 1, rounded down. */
  readonly amounts: readonly [bigint, bigint];
}

/** A change of liquidity at a tick, as {@link PoolPrincipal} counts it. */
export interface TickChange {
  readonly tick: number;
  /** Signed change of the liquidity in range when the price rises across the tick. */
  readonly net: bigint;
}

/** The positions of a pool of concentrated liquidity, while its price moves. */
export interface PoolPrincipal {
  change(change: TickChange): void;
  /** Returns the tokens at a price. Costs as many steps as the price crosses ticks with liquidity since the last call. */
  at(price: { readonly sqrtPriceX96: bigint; readonly tick: number }): Principal;
}

/**
 * Returns a pool without positions. Sums below and above the price are kept, so that a change is one step, whatever the number of positions.
 *
 * For a price √p and positions as net liquidity at ticks t: token 1 is the sum of net·(√p − √t) at ticks up to the price. Token 0 is the liquidity
 * in range / √p, and the sum of net / √t at ticks above it.
 * @param all the ticks that change at any time, in any order; others are a RangeError
 */
export function createPoolPrincipal(all: Iterable<number>): PoolPrincipal {
  const ticks = [...new Set(all)].toSorted((one, other) => one - other).map(tickOf);
  const places = new Map(ticks.map(({ tick }, place) => [tick, place]));
  /** Number of ticks up to the price. */
  let crossed = 0;
  /** Sums of net and net·√t of these, and of net / √t of the others. */
  let [liquidity, paid, above] = [0n, 0n, 0n];

  function put(one: TickSum, place: number, net: bigint): void {
    if (place < crossed) {
      liquidity += net;
      paid += net * one.root;
    } else above += inverseOf(one, one.net + net) - inverseOf(one, one.net);
    one.net += net;
  }

  function moveTo(tick: number): void {
    for (let one = ticks[crossed]; one !== undefined && one.tick <= tick; one = ticks[++crossed]) {
      above -= inverseOf(one, one.net);
      liquidity += one.net;
      paid += one.net * one.root;
    }
    for (let one = ticks[crossed - 1]; one !== undefined && one.tick > tick; one = ticks[--crossed - 1]) {
      above += inverseOf(one, one.net);
      liquidity -= one.net;
      paid -= one.net * one.root;
    }
  }

  return {
    change({ tick, net }) {
      const place = places.get(tick);
      const one = place === undefined ? undefined : ticks[place];
      if (place === undefined || one === undefined) throw new RangeError(`Tick ${tick} is not among the pool's`);
      put(one, place, net);
    },
    at({ sqrtPriceX96, tick }) {
      moveTo(tick);
      if (sqrtPriceX96 === 0n) return { liquidity: 0n, amounts: [0n, 0n] };
      const amount0 = ((liquidity << PRECISION) / sqrtPriceX96 + above) >> (PRECISION - 96n);
      const amount1 = (sqrtPriceX96 * liquidity - paid) >> 96n;
      return { liquidity: positive(liquidity), amounts: [positive(amount0), positive(amount1)] };
    },
  };
}

interface TickSum {
  readonly tick: number;
  /** √t times 2^96. */
  readonly root: bigint;
  net: bigint;
}

function tickOf(tick: number): TickSum {
  return { tick, root: sqrtPriceAtTick(tick), net: 0n };
}

/** Bits of the inverses of roots: the error of a tick is below 2^-32 base units. */
const PRECISION = 256n;

/** Returns net / √t, rounded down, so that the amount never exceeds the pool's. */
function inverseOf({ root }: TickSum, net: bigint): bigint {
  const product = net << PRECISION;
  const quotient = product / root;
  return product < 0n && quotient * root !== product ? quotient - 1n : quotient;
}

function positive(value: bigint): bigint {
  return value < 0n ? 0n : value;
}

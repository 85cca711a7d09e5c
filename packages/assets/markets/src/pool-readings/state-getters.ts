import type { Address, Hex } from '@chainstead/core';
import { bigIntAt, wordCount } from '@chainstead/events/abi';
import type { ConcentratedState, Reserves } from '../events/pool-event.ts';
import { callData } from '../exchanges/pool-proof.ts';

export interface StateGetters {
  readonly calls: readonly Hex[];
  decode(results: readonly (Hex | null)[]): Reserves | ConcentratedState | null;
}

const RESERVES: StateGetters = {
  calls: [callData('getReserves()')],
  decode([returned]) {
    if (!hasWords(returned, 2)) return null;
    return { of: 'reserves', reserve0: bigIntAt(returned, 0), reserve1: bigIntAt(returned, 1) };
  },
};

/** The root of the price and the tick are the first words, in every fork. */
function concentrated(priceGetter: string): StateGetters {
  return {
    calls: [callData(priceGetter), callData('liquidity()')],
    decode([price, returned]) {
      if (!hasWords(price, 2) || !hasWords(returned, 1)) return null;
      const sqrtPriceX96 = bigIntAt(price, 0);
      if (sqrtPriceX96 === 0n) return null;
      const tick = Number(BigInt.asIntN(24, bigIntAt(price, 1)));
      return { of: 'price', sqrtPriceX96, liquidity: BigInt.asUintN(128, bigIntAt(returned, 0)), tick };
    },
  };
}

const SLOT0 = concentrated('slot0()');
const GLOBAL_STATE = concentrated('globalState()');

/** Without KyberSwap Elastic: it adds fees to liquidity that its events don't report. */
const GETTERS: Readonly<Record<string, StateGetters>> = {
  v2: RESERVES,
  'solidly-1': RESERVES,
  'solidly-2': RESERVES,
  v3: SLOT0,
  'v3-pancake': SLOT0,
  slipstream: SLOT0,
  algebra: GLOBAL_STATE,
  'algebra-integral': GLOBAL_STATE,
};

/** Pool managers and Liquidity Book have no getters: only events show their depth. */
export const PRICED_FAMILIES: readonly string[] = [...Object.keys(GETTERS), 'v4', 'infinity', 'lb-1', 'lb-2'];

export function stateGettersOf(family: string): StateGetters | null {
  return GETTERS[family] ?? null;
}

export function stateCalls(pools: readonly { readonly pool: Address; readonly getters: StateGetters }[]) {
  return pools.flatMap(({ pool, getters }) => getters.calls.map((data) => ({ to: pool, data })));
}

function hasWords(returned: Hex | null | undefined, count: number): returned is Hex {
  if (returned === null || returned === undefined) return false;
  return (wordCount(returned) ?? 0) >= count;
}

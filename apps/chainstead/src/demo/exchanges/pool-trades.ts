import { type Address, parseAddress, ZERO_HASH } from '@chainstead/core';
import { parseAbi, type TransactionReceipt } from 'viem';
import { DemoError } from '../demo-error.ts';
import type { Devnet, DevnetCall } from '../devnet/devnet.ts';
import type { DeployedContract } from '../market/market.ts';
import { type ExchangePool, keyOf, squareRoot } from './exchange-pool.ts';

export interface PoolTrades {
  /** Up to both amounts, over all prices. @param from default the first account */
  addLiquidity(
    pool: ExchangePool,
    amounts: readonly [bigint, bigint],
    from?: Address,
  ): Promise<TransactionReceipt>;
  removeLiquidity(pool: ExchangePool, liquidity: bigint, from?: Address): Promise<TransactionReceipt>;
  /** In v3 or v4. All accounts share the positions, which the routers own. */
  changeRange(pool: ExchangePool, range: RangeChange, from?: Address): Promise<TransactionReceipt>;
  swap(pool: ExchangePool, sold: Sold, from?: Address): Promise<TransactionReceipt>;
  /** Borrows and returns both tokens, in v2 one. Not in v4. */
  flash(pool: ExchangePool, amounts: readonly [bigint, bigint], from?: Address): Promise<TransactionReceipt>;
  /** @throws DemoError in v4 without its router */
  donate(pool: ExchangePool, amounts: readonly [bigint, bigint], from?: Address): Promise<TransactionReceipt>;
  sync(pool: ExchangePool, from?: Address): Promise<TransactionReceipt>;
}

export interface RangeChange {
  readonly tickLower: number;
  readonly tickUpper: number;
  /** In units of `L`; negative: removed. */
  readonly liquidityDelta: bigint;
}

export interface Sold {
  readonly token: Address;
  readonly amount: bigint;
}

export interface ExchangeRouters {
  readonly router: DeployedContract;
  readonly liquidity4: DeployedContract;
  readonly swap4: DeployedContract;
  readonly donate4?: DeployedContract;
}

const MAX_TICK = 887_272;
/** The node's estimate is too low if a position is emptied. */
const GAS = 3_000_000n;
/** Square roots of prices, times 2^96: one inside the range of the contracts. */
const LIMITS = [1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n, 4_295_128_740n] as const;

export function createPoolTrades(
  devnet: Devnet,
  { router, liquidity4, swap4, donate4 }: ExchangeRouters,
): PoolTrades {
  const send = (call: Omit<DevnetCall, 'from'>, from: Address | undefined) =>
    devnet.send({ ...call, gas: GAS, ...(from === undefined ? {} : { from }) });

  function changeRange(pool: ExchangePool, range: RangeChange, from?: Address): Promise<TransactionReceipt> {
    const { tickLower, tickUpper, liquidityDelta } = range;
    if (pool.version === 'v4') {
      const params = { ...range, salt: ZERO_HASH };
      return send({ ...liquidity4, functionName: 'modifyLiquidity', args: [keyOf(pool), params, '0x'] }, from);
    }
    const [name, liquidity] = liquidityDelta < 0n ? ['removeFrom', -liquidityDelta] : ['addTo', liquidityDelta];
    const functionName = `${name}${pool.version === 'algebra-integral' ? 'AlgebraPool' : 'Pool'}`;
    return send({ ...router, functionName, args: [pool.pool, tickLower, tickUpper, liquidity] }, from);
  }

  function changeWholeRange(
    pool: ExchangePool,
    liquidityDelta: bigint,
    from?: Address,
  ): Promise<TransactionReceipt> {
    const tickUpper = MAX_TICK - (MAX_TICK % pool.tickSpacing);
    return changeRange(pool, { tickLower: -tickUpper, tickUpper, liquidityDelta }, from);
  }

  return {
    changeRange,
    addLiquidity(pool, [amount0, amount1], from) {
      if (pool.version !== 'v2') return changeWholeRange(pool, squareRoot(amount0 * amount1), from);
      return send({ ...router, functionName: 'addToPair', args: [pool.pool, amount0, amount1] }, from);
    },
    async removeLiquidity(pool, liquidity, from) {
      if (pool.version !== 'v2') return changeWholeRange(pool, -liquidity, from);
      await send({ ...pairToken(pool), functionName: 'approve', args: [router.address, liquidity] }, from);
      return send({ ...router, functionName: 'removeFromPair', args: [pool.pool, liquidity] }, from);
    },
    swap(pool, { token, amount }, from) {
      const zeroForOne = token === pool.tokens[0];
      if (pool.version !== 'v4') {
        const functionName = pool.version === 'v2' ? 'swapInPair' : 'swapInPool';
        return send({ ...router, functionName, args: [pool.pool, zeroForOne, amount] }, from);
      }
      const params = { zeroForOne, amountSpecified: -amount, sqrtPriceLimitX96: LIMITS[Number(zeroForOne)] };
      const settings = { takeClaims: false, settleUsingBurn: false };
      return send({ ...swap4, functionName: 'swap', args: [keyOf(pool), params, settings, '0x'] }, from);
    },
    flash({ pool, version }, [amount0, amount1], from) {
      if (version !== 'v2')
        return send({ ...router, functionName: 'flashInPool', args: [pool, amount0, amount1] }, from);
      const [ofZero, amount] = amount0 > 0n ? [true, amount0] : [false, amount1];
      return send({ ...router, functionName: 'flashInPair', args: [pool, ofZero, amount] }, from);
    },
    async donate(pool, amounts, from) {
      if (pool.version === 'v4') {
        if (donate4 === undefined) throw new DemoError('There is no router for donations on this devnet');
        return send({ ...donate4, functionName: 'donate', args: [keyOf(pool), ...amounts, '0x'] }, from);
      }
      const give = (place: 0 | 1) =>
        send(
          {
            address: pool.tokens[place],
            abi: TOKEN,
            functionName: 'transfer',
            args: [pool.pool, amounts[place]],
          },
          from,
        );
      await give(0);
      return give(1);
    },
    sync: (pool, from) => send({ ...pairToken(pool), functionName: 'sync' }, from),
  };
}

function pairToken({ pool }: ExchangePool): DeployedContract {
  return { address: parseAddress(pool), abi: TOKEN };
}

const TOKEN = parseAbi([
  'function approve(address spender, uint256 value) returns (bool)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function sync()',
]);

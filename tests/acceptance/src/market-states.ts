/** States of pools after each block: stored ones against those of their contracts. */
import { type Address, parseAddress } from '@chainstead/core';
import { type Database, hexBytes, hexText, sql } from '@chainstead/db';
import type { Devnet, ExchangePool } from '@chainstead/testkit';
import { encodeAbiParameters, keccak256, numberToHex, parseAbi } from 'viem';
import { expect } from 'vitest';
import type { TouchedPool } from './market-logs.ts';
import type { MarketDevnetScript } from './market-script.ts';

/** Numbers are decimal digits. */
interface PoolState {
  readonly reserve0: string | null;
  readonly reserve1: string | null;
  readonly sqrtPriceX96: string | null;
  readonly liquidity: string | null;
  readonly tick: number | null;
}

/** Calls at a time. */
const CALLS = 16;

/**
 * Compares states at the end of blocks. A pool that is older than the index has none until its price changes.
 * @returns the number of compared states
 */
export async function expectStates(
  database: Database,
  devnet: Devnet,
  script: MarketDevnetScript,
  at: readonly TouchedPool[],
): Promise<number> {
  const wanted = at.filter(({ pool }) => script.pools.has(pool));
  const stored = await readStates(database, wanted);
  let compared = 0;
  for (let place = 0; place < wanted.length; place += CALLS) {
    const part = wanted.slice(place, place + CALLS);
    const real = await Promise.all(
      part.map(async ({ pool, block }) => {
        const known = script.pools.get(pool);
        return known === undefined ? null : readNodeState(devnet, script, known, BigInt(block));
      }),
    );
    for (const [index, one] of part.entries()) {
      const state = stored.get(keyOf(one));
      if (state === undefined) continue;
      expect({ ...one, ...state }).toEqual({ ...one, ...real[index] });
      compared += 1;
    }
  }
  return compared;
}

function keyOf({ pool, block }: TouchedPool): string {
  return `${pool} ${block}`;
}

/** The last states and, of concentrated pools, the liquidity that was added in range since. */
async function readStates(
  database: Database,
  wanted: readonly TouchedPool[],
): Promise<ReadonlyMap<string, PoolState>> {
  const rows = await database.query<TouchedPool & PoolState>(
    sql`SELECT ${hexText('known.pool')} AS pool, wanted.block, reserve0::text, reserve1::text, sqrt_price_x96::text, tick,
       (liquidity + (SELECT coalesce(sum(liquidity_delta), 0) FROM swaps
         WHERE swaps.pool_key = known.pool_key AND swaps.pool = known.pool AND swaps.block_number <= wanted.block
           AND (swaps.block_number, swaps.transaction_index, swaps.log_index) > (state.block_number, state.transaction_index, state.log_index)
           AND tick_lower <= tick AND tick < tick_upper))::text AS liquidity
     FROM unnest(${wanted.map(({ pool }) => hexBytes(pool))}::bytea[], ${wanted.map(({ block }) => block)}::int[]) AS wanted (pool, block) JOIN pools AS known ON known.pool = wanted.pool
     CROSS JOIN LATERAL (SELECT * FROM pool_states WHERE pool_key = known.pool_key AND pool = known.pool AND block_number <= wanted.block
       ORDER BY block_number DESC LIMIT 1) AS state`,
  );
  return new Map(rows.map(({ pool, block, ...state }) => [keyOf({ pool, block }), state]));
}

const READS = parseAbi([
  'function getReserves() view returns (uint112, uint112, uint32)',
  // PancakeSwap has one wider word, and the same words before it.
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16, uint16, uint16, uint32, bool)',
  'function globalState() view returns (uint160 price, int24 tick, uint16, uint8, uint16, bool)',
  'function liquidity() view returns (uint128)',
  'function extsload(bytes32 slot) view returns (bytes32)',
]);
/** Slot of the mapping of pools in the storage of the PoolManager, and the place of liquidity in an entry (StateLibrary.sol). */
const POOLS_SLOT = 6n;
const LIQUIDITY_OFFSET = 3n;

async function readNodeState(
  { client }: Devnet,
  { exchanges }: MarketDevnetScript,
  { version, pool }: ExchangePool,
  blockNumber: bigint,
): Promise<PoolState> {
  const at = (address: Address) => ({ address, abi: READS, blockNumber }) as const;
  if (version === 'v2') {
    const [reserve0, reserve1] = await client.readContract({
      ...at(parseAddress(pool)),
      functionName: 'getReserves',
    });
    const none = { sqrtPriceX96: null, liquidity: null, tick: null };
    return { reserve0: String(reserve0), reserve1: String(reserve1), ...none };
  }
  const none = { reserve0: null, reserve1: null };
  if (version !== 'v4') {
    const of = at(parseAddress(pool));
    const isAlgebra = version === 'algebra-integral';
    const [price, tick] = isAlgebra
      ? await client.readContract({ ...of, functionName: 'globalState' })
      : await client.readContract({ ...of, functionName: 'slot0' });
    const liquidity = await client.readContract({ ...of, functionName: 'liquidity' });
    return { ...none, sqrtPriceX96: String(price), liquidity: String(liquidity), tick };
  }
  const manager = at(exchanges.factories.v4.address);
  const entry = BigInt(
    keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [pool, POOLS_SLOT])),
  );
  const read = async (slot: bigint) =>
    BigInt(
      await client.readContract({
        ...manager,
        functionName: 'extsload',
        args: [numberToHex(slot, { size: 32 })],
      }),
    );
  const word = await read(entry);
  const tick = Number(BigInt.asIntN(24, word >> 160n));
  const liquidity = BigInt.asUintN(128, await read(entry + LIQUIDITY_OFFSET));
  return { ...none, sqrtPriceX96: String(BigInt.asUintN(160, word)), liquidity: String(liquidity), tick };
}

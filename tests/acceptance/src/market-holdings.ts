/** What pools of v4 hold: their liquidity by tick is that of all events, and the manager has the tokens of their positions. */
import type { Address, Hex } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { createPoolPrincipal } from '@chainstead/markets/requests';
import type { Devnet } from '@chainstead/testkit';
import { parseAbi } from 'viem';
import { expect } from 'vitest';
import type { MarketLogs } from './market-logs.ts';
import type { MarketDevnetScript } from './market-script.ts';

const READS = parseAbi(['function balanceOf(address) view returns (uint256)']);

/** @param firstBlock first indexed block: pools that are older have no known liquidity */
export async function expectHoldings(
  database: Database,
  devnet: Devnet,
  { pools, exchanges }: MarketDevnetScript,
  { swaps, created, usable }: MarketLogs,
  firstBlock: number,
): Promise<void> {
  const held = new Map<Address, bigint>();
  for (const { version, pool, tokens } of pools.values()) {
    if (version !== 'v4' || !usable.has(pool) || (created.get(pool) ?? 0) < firstBlock) continue;
    const sums = new Map<number, bigint>();
    for (const { pool: of, lower, upper, liquidity } of swaps) {
      if (of !== pool || lower === null || upper === null || liquidity === null) continue;
      sums.set(lower, (sums.get(lower) ?? 0n) + BigInt(liquidity));
      sums.set(upper, (sums.get(upper) ?? 0n) - BigInt(liquidity));
    }
    const ticks = await readTicks(database, pool);
    expect([pool, ticks]).toEqual([
      pool,
      [...sums].filter(([, net]) => net !== 0n).toSorted(([a], [b]) => a - b),
    ]);
    const [state] = await database.query<{ root: string; tick: number }>(
      sql`SELECT sqrt_price_x96::text AS root, tick FROM pool_states WHERE pool = decode(${pool.slice(2)}, 'hex') ORDER BY block_number DESC LIMIT 1`,
    );
    if (state === undefined) continue;
    const principal = createPoolPrincipal(ticks.map(([tick]) => tick));
    for (const [tick, net] of ticks) principal.change({ tick, net });
    const { amounts } = principal.at({ sqrtPriceX96: BigInt(state.root), tick: state.tick });
    for (const side of [0, 1] as const) held.set(tokens[side], (held.get(tokens[side]) ?? 0n) + amounts[side]);
  }
  const manager = exchanges.factories.v4.address;
  for (const [address, amount] of held) {
    const call = { address, abi: READS, functionName: 'balanceOf', args: [manager] } as const;
    expect([address, amount <= (await devnet.client.readContract(call))]).toEqual([address, true]);
  }
}

/** Net liquidity of a pool by tick, without zeros. Each width of spans has all of it. */
async function readTicks(database: Database, pool: Hex): Promise<(readonly [number, bigint])[]> {
  const rows = await database.query<{ blocks: number; tick: number; net: string }>(
    sql`SELECT blocks, tick, sum(net)::text AS net FROM tick_liquidity WHERE pool = decode(${pool.slice(2)}, 'hex') GROUP BY blocks, tick HAVING sum(net) <> 0 ORDER BY tick`,
  );
  const widths = Map.groupBy(rows, ({ blocks }) => blocks);
  const [one = [], ...others] = [...widths.values()].map((of) =>
    of.map(({ tick, net }) => [tick, BigInt(net)] as const),
  );
  for (const other of others) expect(other).toEqual(one);
  return one;
}

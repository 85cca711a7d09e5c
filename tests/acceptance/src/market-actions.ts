/** Random actions in one pool of a devnet. */
import { type Address, type Hex, parseAddress } from '@chainstead/core';
import type { Devnet, ExchangeDevnet, ExchangePool, SeededRandom } from '@chainstead/testkit';
import { parseAbi } from 'viem';
import { waitUntil } from './indexed-chain.ts';
import type { ExpectedSwap, MarketLogs } from './market-logs.ts';

export const UNIT = 10n ** 18n;
const SHARES_ABI = parseAbi(['function balanceOf(address) view returns (uint256)']);

/** Swaps and liquidity changes by pool. */
export type PoolChanges = ReadonlyMap<Hex, readonly ExpectedSwap[]>;

interface ActionContext {
  readonly devnet: Devnet;
  readonly exchanges: ExchangeDevnet;
  readonly random: SeededRandom;
  readonly traders: readonly Address[];
}

/** Actions in a pool that has liquidity. */
export function createPoolActions({ devnet, exchanges, random, traders }: ActionContext) {
  async function add(pool: ExchangePool): Promise<void> {
    if (pool.version !== 'v2' && !random.chance(0.2)) return addRange(pool);
    const amounts = [BigInt(random.integer(1, 60)) * UNIT, BigInt(random.integer(1, 60)) * UNIT] as const;
    await exchanges.addLiquidity(pool, amounts, random.pick(traders));
  }

  async function addRange(pool: ExchangePool): Promise<void> {
    const [one, other] = [random.integer(-40, 20), random.integer(1, 30)];
    const tickLower = one * pool.tickSpacing;
    const tickUpper = tickLower + other * pool.tickSpacing;
    const range = { tickLower, tickUpper, liquidityDelta: BigInt(random.integer(1, 900)) * UNIT };
    await exchanges.changeRange(pool, range, random.pick(traders));
  }

  async function remove(pool: ExchangePool, changes: PoolChanges): Promise<void> {
    if (pool.version !== 'v2') return removeRange(pool, changes);
    const trader = random.pick(traders);
    const address = parseAddress(pool.pool);
    const shares = await devnet.client.readContract({
      ...{ address, abi: SHARES_ABI, functionName: 'balanceOf', args: [trader] },
    });
    if (shares > UNIT) await exchanges.removeLiquidity(pool, shares / BigInt(random.integer(2, 9)), trader);
  }

  /** Wide positions are never emptied: a pool without liquidity has no trades. */
  async function removeRange(pool: ExchangePool, changes: PoolChanges): Promise<void> {
    const open = [...positionsOf(pool, changes)].filter(([, liquidity]) => liquidity > 0n);
    if (open.length === 0) return;
    const [key, liquidity] = random.pick(open);
    const [tickLower = 0, tickUpper = 0] = key.split(' ').map(Number);
    const isWhole = tickUpper > 800_000;
    const part = BigInt(random.integer(isWhole ? 2 : 1, 4));
    const range = { tickLower, tickUpper, liquidityDelta: -(liquidity / part) };
    await exchanges.changeRange(pool, range, random.pick(traders));
  }

  function swap(pool: ExchangePool, from: Address): Promise<unknown> {
    const amount = BigInt(random.integer(1, 10 ** random.integer(1, 9))) * 10n ** 10n;
    return exchanges.swap(pool, { token: random.pick(pool.tokens), amount }, from);
  }

  async function flashOrDonate(pool: ExchangePool): Promise<void> {
    const from = random.pick(traders);
    const amounts = [
      BigInt(random.integer(1, 900)) * 10n ** 12n,
      BigInt(random.integer(1, 900)) * 10n ** 12n,
    ] as const;
    if (pool.version !== 'v4' && random.chance(0.6)) {
      await exchanges.flash(pool, random.chance(0.5) ? amounts : [0n, amounts[1]], from);
      return;
    }
    await exchanges.donate(pool, amounts, from);
    // Without it, the next trade finds the donation.
    if (pool.version === 'v2' && random.chance(0.5)) await exchanges.sync(pool, from);
  }

  /** Swaps of three pools in one block. */
  function swapTogether(liquid: readonly ExchangePool[]): Promise<void> {
    const first = random.integer(0, Math.max(0, liquid.length - traders.length));
    // One trader each: the node gives nonces by what is mined.
    const swaps = traders.flatMap((trader, place) => {
      const one = liquid[first + place];
      return one === undefined ? [] : [() => swap(one, trader)];
    });
    return mineTogether(devnet, swaps);
  }

  return { add, remove, swap, flashOrDonate, swapTogether };
}

/** Mines transactions in one block. @throws the first failure, after all are mined */
async function mineTogether({ client }: Devnet, sends: readonly (() => Promise<unknown>)[]): Promise<void> {
  await client.setAutomine(false);
  try {
    const mined = Promise.allSettled(sends.map((send) => send()));
    await Promise.race([mined, waitUntil(async () => missing(await client.getTxpoolStatus(), sends.length))]);
    await client.mine({ blocks: 1 });
    for (const result of await mined) if (result.status === 'rejected') throw result.reason;
  } finally {
    await client.setAutomine(true);
  }
}

function missing({ pending }: { readonly pending: number }, wanted: number): string | null {
  return pending >= wanted ? null : `${pending} of ${wanted} transactions`;
}

/** Liquidity of the positions of a pool with concentrated liquidity, by `lower upper`. */
function positionsOf({ pool }: ExchangePool, changes: PoolChanges): ReadonlyMap<string, bigint> {
  const positions = new Map<string, bigint>();
  for (const { lower, upper, liquidity } of changes.get(pool) ?? [])
    if (liquidity !== null) {
      const key = `${lower} ${upper}`;
      positions.set(key, (positions.get(key) ?? 0n) + BigInt(liquidity));
    }
  return positions;
}

/** Whether the pool exists and has liquidity over its whole range. */
export function isLiquid(pool: ExchangePool, logs: MarketLogs, changes: PoolChanges): boolean {
  if (!logs.usable.has(pool.pool)) return false;
  if (pool.version === 'v2') return (changes.get(pool.pool) ?? []).some(({ kind }) => kind === 1);
  return [...positionsOf(pool, changes)].some(
    ([key, liquidity]) => Number(key.split(' ')[1]) > 800_000 && liquidity > 0n,
  );
}

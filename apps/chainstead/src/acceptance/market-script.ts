/** Random actions in pools of Uniswap v2, v3 and v4 on a devnet, reproducible by their seed. */
import { type Address, type Hex, parseAddress } from '@chainstead/core';
import {
  createSeededRandom,
  type Devnet,
  deployExchanges,
  type ExchangeDevnet,
  type ExchangePool,
  type SeededRandom,
} from '@chainstead/testkit';
import { parseAbi } from 'viem';
import { waitUntil } from './indexed-chain.ts';
import { type MarketLogs, readMarketLogs } from './market-logs.ts';

export interface MarketDevnetScript {
  readonly exchanges: ExchangeDevnet;
  /** Every pool that was ever created, also those that a reorg took away. */
  readonly pools: ReadonlyMap<Hex, ExchangePool>;
  readonly fakePair: Address;
  /** Makes so many random actions. */
  act(count: number): Promise<void>;
}

const FEES = [500, 3_000, 10_000];
const TRADERS = 3;
const UNIT = 10n ** 18n;
const SHARES_ABI = parseAbi(['function balanceOf(address) view returns (uint256)']);

/** A pool that can be created. */
type Kind = Pick<ExchangePool, 'version' | 'tokens' | 'fee'>;

/** Deploys exchanges, three tokens and a fake pair. */
export async function createMarketDevnetScript(devnet: Devnet, seed: string): Promise<MarketDevnetScript> {
  const random = createSeededRandom(seed);
  const exchanges = await deployExchanges(devnet);
  const traders = devnet.accounts.slice(0, TRADERS);
  const [a, b, c] = [
    await exchanges.deployToken('ONE', 18, traders),
    await exchanges.deployToken('TWO', 6, traders),
    await exchanges.deployToken('SIX', 18, traders),
  ];
  const kinds = [[a, b] as const, [b, c] as const, [a, c] as const].flatMap((tokens): Kind[] => [
    { version: 'v2', tokens, fee: 3_000 },
    ...FEES.flatMap((fee): Kind[] => [
      { version: 'v3', tokens, fee },
      { version: 'v4', tokens, fee },
    ]),
  ]);
  const { addRange, remove, swap } = createPoolActions({ devnet, exchanges, random, traders });
  const fake = await exchanges.deployFakePair([a, b]);
  const pools = new Map<Hex, ExchangePool>();
  const poolOf = new Map<Kind, Hex>();

  async function create(logs: MarketLogs): Promise<void> {
    const free = kinds.filter((kind) => !logs.created.has(poolOf.get(kind) ?? '0x'));
    if (free.length === 0) return;
    const kind = random.pick(free);
    const pool = await exchanges.createPool({ ...kind, price: [BigInt(random.integer(1, 5)), 2n] });
    pools.set(pool.pool, pool);
    poolOf.set(kind, pool.pool);
    await exchanges.addLiquidity(pool, [100n * UNIT, BigInt(random.integer(50, 300)) * UNIT], random.pick(traders));
  }

  async function actOnce(): Promise<void> {
    const logs = await readMarketLogs(devnet);
    const liquid = [...pools.values()].filter((pool) => isLiquid(pool, logs));
    if (liquid.length < 3 || random.chance(0.08)) return create(logs);
    const pool = random.pick(liquid);
    if (random.chance(0.05)) {
      const args = [BigInt(random.integer(1, 9)) * UNIT, 1_000n * UNIT];
      await devnet.send({ ...fake, functionName: 'trade', args, from: random.pick(traders) });
    } else if (random.chance(0.15)) await remove(pool, logs);
    else if (random.chance(0.25)) {
      if (pool.version === 'v2' || random.chance(0.2))
        await exchanges.addLiquidity(pool, [UNIT, BigInt(random.integer(1, 4)) * UNIT], random.pick(traders));
      else await addRange(pool);
    } else if (random.chance(0.1)) {
      const first = random.integer(0, liquid.length - TRADERS);
      // One trader each: the node gives nonces by what is mined.
      const swaps = traders.flatMap((trader, place) => {
        const one = liquid[first + place];
        return one === undefined ? [] : [() => swap(one, trader)];
      });
      await swapTogether(devnet, swaps);
    } else await swap(pool, random.pick(traders));
  }

  return {
    exchanges,
    pools,
    fakePair: fake.address,
    async act(count) {
      for (let done = 0; done < count; done++) await actOnce();
    },
  };
}

interface ActionContext {
  readonly devnet: Devnet;
  readonly exchanges: ExchangeDevnet;
  readonly random: SeededRandom;
  readonly traders: readonly Address[];
}

/** Actions in a pool that has liquidity. */
function createPoolActions({ devnet, exchanges, random, traders }: ActionContext) {
  async function addRange(pool: ExchangePool): Promise<void> {
    const [one, other] = [random.integer(-40, 20), random.integer(1, 30)];
    const tickLower = one * pool.tickSpacing;
    const tickUpper = tickLower + other * pool.tickSpacing;
    const range = { tickLower, tickUpper, liquidityDelta: BigInt(random.integer(1, 900)) * UNIT };
    await exchanges.changeRange(pool, range, random.pick(traders));
  }

  async function remove(pool: ExchangePool, logs: MarketLogs): Promise<void> {
    if (pool.version !== 'v2') return removeRange(pool, logs);
    const trader = random.pick(traders);
    const address = parseAddress(pool.pool);
    const shares = await devnet.client.readContract({
      ...{ address, abi: SHARES_ABI, functionName: 'balanceOf', args: [trader] },
    });
    if (shares > UNIT) await exchanges.removeLiquidity(pool, shares / BigInt(random.integer(2, 9)), trader);
  }

  /** Wide positions are never emptied: a pool without liquidity has no trades. */
  async function removeRange(pool: ExchangePool, logs: MarketLogs): Promise<void> {
    const open = [...positionsOf(pool, logs)].filter(([, liquidity]) => liquidity > 0n);
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

  return { addRange, remove, swap };
}

/** Swaps in three pools, in one block. */
async function swapTogether({ client }: Devnet, swaps: readonly (() => Promise<unknown>)[]): Promise<void> {
  await client.setAutomine(false);
  try {
    const mined = Promise.all(swaps.map((swap) => swap()));
    await Promise.race([mined, waitUntil(async () => missing(await client.getTxpoolStatus(), swaps.length))]);
    await client.mine({ blocks: 1 });
    await mined;
  } finally {
    await client.setAutomine(true);
  }
}

function missing({ pending }: { readonly pending: number }, wanted: number): string | null {
  return pending >= wanted ? null : `${pending} of ${wanted} transactions`;
}

/** Liquidity of the positions of a v3 or v4 pool, by `lower upper`. */
function positionsOf({ pool }: ExchangePool, { swaps }: MarketLogs): ReadonlyMap<string, bigint> {
  const positions = new Map<string, bigint>();
  for (const { pool: of, lower, upper, liquidity } of swaps)
    if (of === pool && liquidity !== null) {
      const key = `${lower} ${upper}`;
      positions.set(key, (positions.get(key) ?? 0n) + BigInt(liquidity));
    }
  return positions;
}

/** Whether the pool exists and has liquidity over its whole range. */
function isLiquid(pool: ExchangePool, logs: MarketLogs): boolean {
  if (!logs.usable.has(pool.pool)) return false;
  if (pool.version === 'v2') return logs.swaps.some(({ pool: of, kind }) => of === pool.pool && kind === 1);
  return [...positionsOf(pool, logs)].some(([key, liquidity]) => Number(key.split(' ')[1]) > 800_000 && liquidity > 0n);
}

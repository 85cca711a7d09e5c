/** Random actions in pools of several exchanges on a devnet, reproducible by their seed. */
import type { Address, Hex } from '@chainstead/core';
import {
  compileAssetContracts,
  createSeededRandom,
  type Devnet,
  deployExchanges,
  type ExchangeDevnet,
  type ExchangePool,
} from '@chainstead/testkit';
import { createPoolActions, isLiquid, UNIT } from './market-actions.ts';
import { createMarketLogReader, type MarketLogs } from './market-logs.ts';

export interface MarketDevnetScript {
  readonly exchanges: ExchangeDevnet;
  /** Every pool that was ever created, also those that a reorg took away. */
  readonly pools: ReadonlyMap<Hex, ExchangePool>;
  readonly fakePair: Address;
  /** Number of actions that the contracts refused: a pool may be too empty for them. */
  readonly refused: number;
  /** Makes so many random actions. */
  act(count: number): Promise<void>;
  readLogs(): Promise<MarketLogs>;
}

const FEES = [500, 3_000, 10_000];
const PANCAKE_FEES = [500, 2_500, 10_000];
const TRADERS = 3;

/** A pool that can be created. */
type Kind = Pick<ExchangePool, 'version' | 'tokens' | 'fee'>;

/** Deploys exchanges, tokens of several kinds and a fake pair. */
export async function createMarketDevnetScript(devnet: Devnet, seed: string): Promise<MarketDevnetScript> {
  const random = createSeededRandom(seed);
  const exchanges = await deployExchanges(devnet, { hasForks: true });
  const traders = devnet.accounts.slice(0, TRADERS);
  const [a, b, c] = [
    await exchanges.deployToken('ONE', 18, traders),
    await exchanges.deployToken('TWO', 6, traders),
    await exchanges.deployToken('SIX', 18, traders),
  ];
  const odd = await deployOddTokens(devnet, exchanges, traders);
  const kinds = kindsOf([a, b, c], [odd.fee, odd.rebasing.address]);
  const isOdd = ({ tokens }: ExchangePool) =>
    tokens.some((token) => token === odd.fee || token === odd.rebasing.address);
  const actions = createPoolActions({ devnet, exchanges, random, traders });
  const fake = await exchanges.deployFakePair([a, b]);
  const pools = new Map<Hex, ExchangePool>();
  const poolOf = new Map<Kind, Hex>();
  const readLogs = createMarketLogReader(devnet);
  let refused = 0;

  async function create(logs: MarketLogs): Promise<void> {
    const free = kinds.filter((kind) => !logs.created.has(poolOf.get(kind) ?? '0x'));
    if (free.length === 0) return;
    const kind = random.pick(free);
    const pool = await exchanges.createPool({ ...kind, price: [BigInt(random.integer(1, 5)), 2n] });
    pools.set(pool.pool, pool);
    poolOf.set(kind, pool.pool);
    await exchanges.addLiquidity(
      pool,
      [100n * UNIT, BigInt(random.integer(50, 300)) * UNIT],
      random.pick(traders),
    );
  }

  async function rebase(liquid: readonly ExchangePool[]): Promise<void> {
    await devnet.send({ ...odd.rebasing, functionName: 'rebase', args: [BigInt(random.integer(60, 140))] });
    const { address } = odd.rebasing;
    for (const pool of liquid)
      if (pool.tokens.includes(address)) await exchanges.sync(pool, random.pick(traders));
  }

  async function actOnce(): Promise<void> {
    const logs = await readLogs();
    const changes = Map.groupBy(logs.swaps, ({ pool }) => pool);
    const liquid = [...pools.values()].filter((pool) => isLiquid(pool, logs, changes));
    if (liquid.length < 3 || random.chance(0.08)) return create(logs);
    const pool = random.pick(liquid);
    if (random.chance(0.02)) return rebase(liquid);
    if (random.chance(0.05)) {
      const args = [BigInt(random.integer(1, 9)) * UNIT, 1_000n * UNIT];
      await devnet.send({ ...fake, functionName: 'trade', args, from: random.pick(traders) });
    } else if (random.chance(0.15)) await actions.remove(pool, changes);
    else if (random.chance(0.25)) await actions.add(pool);
    else if (random.chance(0.1) && !isOdd(pool)) await actions.flashOrDonate(pool);
    else if (random.chance(0.1)) await actions.swapTogether(liquid);
    else await actions.swap(pool, random.pick(traders));
  }

  return {
    exchanges,
    pools,
    fakePair: fake.address,
    readLogs,
    get refused() {
      return refused;
    },
    async act(count) {
      for (let done = 0; done < count; done++)
        try {
          await actOnce();
        } catch (error) {
          if (!(error instanceof Error && error.message.includes('failed on the devnet'))) throw error;
          refused += 1;
        }
    },
  };
}

/** Only pairs of v2 accept tokens that take a fee or change balances. */
function kindsOf(
  [a, b, c]: readonly [Address, Address, Address],
  odd: readonly [Address, Address],
): readonly Kind[] {
  const plain = [[a, b] as const, [b, c] as const, [a, c] as const].flatMap((tokens): Kind[] => [
    { version: 'v2', tokens, fee: 3_000 },
    { version: 'algebra-integral', tokens, fee: 500 },
    ...PANCAKE_FEES.map((fee): Kind => ({ version: 'v3-pancake', tokens, fee })),
    ...FEES.flatMap((fee): Kind[] => [
      { version: 'v3', tokens, fee },
      { version: 'v4', tokens, fee },
    ]),
  ]);
  const [fee, rebasing] = odd;
  const pairs = [[fee, a] as const, [rebasing, b] as const, [fee, rebasing] as const];
  return [...plain, ...pairs.map((tokens): Kind => ({ version: 'v2', tokens, fee: 3_000 }))];
}

async function deployOddTokens(devnet: Devnet, exchanges: ExchangeDevnet, traders: readonly Address[]) {
  const contract = await compileAssetContracts();
  const [collector] = devnet.accounts.slice(-1);
  const [fee, rebasing] = [contract('FeeToken'), contract('RebasingToken')];
  const feeToken = { address: await devnet.deploy(fee, [collector]), abi: fee.abi };
  const rebasingToken = { address: await devnet.deploy(rebasing), abi: rebasing.abi };
  for (const token of [feeToken, rebasingToken]) {
    for (const trader of traders)
      await devnet.send({ ...token, functionName: 'mint', args: [trader, UNIT * 10n ** 12n] });
    await exchanges.approve(token.address, traders);
  }
  return { fee: feeToken.address, rebasing: rebasingToken };
}

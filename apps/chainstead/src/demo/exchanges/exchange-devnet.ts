import { readFile } from 'node:fs/promises';
import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { type Abi, getContractAddress, isHex, maxUint256 } from 'viem';
import { DemoError } from '../demo-error.ts';
import { type CompiledContract, compileContracts } from '../devnet/compile-solidity.ts';
import { requireDemoTool } from '../devnet/demo-tools.ts';
import type { Devnet } from '../devnet/devnet.ts';
import type { DeployedContract } from '../market/market.ts';
import { type ExchangePool, idOf, keyOf, squareRoot } from './exchange-pool.ts';
import { createPoolTrades, type PoolTrades } from './pool-trades.ts';

interface NewPool {
  readonly version: ExchangePool['version'];
  readonly tokens: readonly [Address, Address];
  /** Parts per million, enabled by the factory. @default 3,000 */
  readonly fee?: number;
  /**
   * First price in v3 and v4: base units of the first given token and of the second.
   * @default [1n, 1n]
   */
  readonly price?: readonly [bigint, bigint];
  readonly hooks?: Address;
}

export interface ExchangeDevnet extends PoolTrades {
  readonly factories: Readonly<Record<'v2' | 'v3' | 'v4', DeployedContract>> & Partial<ForkFactories>;
  /** 10^30 base units each, approved for routers. @default holders the first three accounts */
  deployToken(symbol: string, decimals?: number, holders?: readonly Address[]): Promise<Address>;
  approve(token: Address, holders: readonly Address[]): Promise<void>;
  createPool(pool: NewPool): Promise<ExchangePool>;
  /** Perfect events of a v2 pair, naming the real factory: `trade(amount0In, amount1Out)`. */
  deployFakePair(tokens: readonly [Address, Address]): Promise<DeployedContract>;
}

interface ExchangeOptions {
  /** PancakeSwap v3, Algebra Integral, and a router for donations to v4. @default false */
  readonly hasForks?: boolean;
}

const TICK_SPACINGS: Readonly<Record<number, number>> = { 500: 10, 2500: 50, 3000: 60, 10000: 200 };
const ALGEBRA_SPACING = 60;
const HOLDING = 10n ** 28n;
const GAS = 15_000_000n;

export async function deployExchanges(
  devnet: Devnet,
  { hasForks = false }: ExchangeOptions = {},
): Promise<ExchangeDevnet> {
  const [contract, v2Factory, v3Factory, poolManager, liquidityRouter, swapRouter, donateRouter] =
    await Promise.all([
      compileContracts(['DemoToken', 'DemoExchangeRouter', 'FakePair']),
      readExchangeArtifact('UniswapV2Factory'),
      readExchangeArtifact('UniswapV3Factory'),
      readExchangeArtifact('PoolManager'),
      readExchangeArtifact('PoolModifyLiquidityTest'),
      readExchangeArtifact('PoolSwapTest'),
      readExchangeArtifact('PoolDonateTest'),
    ]);
  const [owner = ZERO_ADDRESS] = devnet.accounts;
  const deploy = async (compiled: CompiledContract, ...args: unknown[]): Promise<DeployedContract> => ({
    address: await devnet.deploy(compiled, args),
    abi: compiled.abi,
  });
  const v2 = await deploy(v2Factory, owner);
  const v3 = await deploy(v3Factory);
  const v4 = await deploy(poolManager, owner);
  const routers = {
    router: await deploy(contract('DemoExchangeRouter')),
    liquidity4: await deploy(liquidityRouter, v4.address),
    swap4: await deploy(swapRouter, v4.address),
    ...(hasForks ? { donate4: await deploy(donateRouter, v4.address) } : {}),
  };
  const factories = { v2, v3, v4, ...(hasForks ? await deployForks(devnet) : {}) };
  const { abi } = contract('DemoToken');
  const approve = async (token: Address, holders: readonly Address[]): Promise<void> => {
    for (const from of holders)
      for (const { address } of Object.values(routers))
        await devnet.send({ address: token, abi, functionName: 'approve', args: [address, maxUint256], from });
  };
  return {
    approve,
    factories,
    ...createPoolTrades(devnet, routers),
    createPool: (pool) => createPool(devnet, factories, pool),
    deployFakePair: (tokens) => deploy(contract('FakePair'), v2.address, ...sorted(tokens)),
    async deployToken(symbol, decimals = 18, holders = devnet.accounts.slice(0, 3)) {
      const token = await deploy(contract('DemoToken'), symbol, symbol, decimals);
      for (const holder of holders)
        await devnet.send({ ...token, functionName: 'mint', args: [holder, HOLDING] });
      await approve(token.address, holders);
      return token.address;
    },
  };
}

async function createPool(
  devnet: Devnet,
  factories: ExchangeDevnet['factories'],
  { version, tokens: given, fee = 3_000, price = [1n, 1n], hooks = ZERO_ADDRESS }: NewPool,
): Promise<ExchangePool> {
  const tokens = sorted(given);
  const [amount0, amount1] = tokens[0] === given[0] ? price : [price[1], price[0]];
  const sqrtPriceX96 = squareRoot((amount1 << 192n) / amount0);
  const spacing = version === 'algebra-integral' ? ALGEBRA_SPACING : (TICK_SPACINGS[fee] ?? 60);
  const created = { version, tokens, fee, tickSpacing: version === 'v2' ? 0 : spacing, hooks } as const;
  const factory = factories[version];
  if (factory === undefined) throw new DemoError(`There is no factory of ${version} on this devnet`);
  if (version === 'v4') {
    const key = keyOf(created);
    await devnet.send({ ...factory, functionName: 'initialize', args: [key, sqrtPriceX96] });
    return { ...created, pool: idOf(created) };
  }
  const { create, find } = factoryCalls(version, tokens, fee);
  await devnet.send({ ...factory, functionName: create[0], args: create[1], gas: GAS });
  const found = await devnet.client.readContract({ ...factory, functionName: find[0], args: find[1] });
  const pool = parseAddress(found);
  if (version !== 'v2') {
    const { abi } = await readExchangeArtifact('UniswapV3Pool');
    await devnet.send({ address: pool, abi, functionName: 'initialize', args: [sqrtPriceX96] });
  }
  return { ...created, pool };
}

function sorted([one, other]: readonly [Address, Address]): readonly [Address, Address] {
  return one < other ? [one, other] : [other, one];
}

type ForkFactories = Readonly<Record<'v3-pancake' | 'algebra-integral', DeployedContract>>;

async function deployForks(devnet: Devnet): Promise<ForkFactories> {
  const [contract, pancakePool, pancakeFactory, algebraFactory, algebraDeployer] = await Promise.all([
    compileContracts(['PancakePoolDeployer']),
    readExchangeArtifact('PancakeV3Pool'),
    readExchangeArtifact('PancakeV3Factory'),
    readExchangeArtifact('AlgebraFactory'),
    readExchangeArtifact('AlgebraPoolDeployer'),
  ]);
  const pancakeDeployer = await devnet.deploy(contract('PancakePoolDeployer'), [pancakePool.bytecode]);
  const pancake = await devnet.deploy(pancakeFactory, [pancakeDeployer]);
  const [from = ZERO_ADDRESS] = devnet.accounts;
  const nonce = await devnet.client.getTransactionCount({ address: from });
  const expected = parseAddress(getContractAddress({ from, nonce: BigInt(nonce) + 1n }));
  const algebra = await devnet.deploy(algebraFactory, [expected]);
  const deployer = await devnet.deploy(algebraDeployer, [algebra]);
  if (deployer !== expected) throw new DemoError(`The deployer of Algebra is ${deployer}, not ${expected}`);
  return {
    'v3-pancake': { address: pancake, abi: pancakeFactory.abi },
    'algebra-integral': { address: algebra, abi: algebraFactory.abi },
  };
}

interface FactoryCalls {
  readonly create: readonly [functionName: string, args: readonly unknown[]];
  readonly find: readonly [functionName: string, args: readonly unknown[]];
}

function factoryCalls(
  version: Exclude<ExchangePool['version'], 'v4'>,
  tokens: readonly [Address, Address],
  fee: number,
): FactoryCalls {
  if (version === 'v2') return { create: ['createPair', tokens], find: ['getPair', tokens] };
  if (version === 'algebra-integral')
    return { create: ['createPool', [...tokens, '0x']], find: ['poolByPair', tokens] };
  return { create: ['createPool', [...tokens, fee]], find: ['getPool', [...tokens, fee]] };
}

const FILES = {
  UniswapV2Factory: '@uniswap/v2-core/build/UniswapV2Factory.json',
  UniswapV2Pair: '@uniswap/v2-core/build/UniswapV2Pair.json',
  UniswapV3Factory: '@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json',
  UniswapV3Pool: '@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json',
  PoolManager: '@uniswap/v4-core/out/PoolManager.sol/PoolManager.json',
  PoolModifyLiquidityTest: '@uniswap/v4-core/out/PoolModifyLiquidityTest.sol/PoolModifyLiquidityTest.json',
  PoolSwapTest: '@uniswap/v4-core/out/PoolSwapTest.sol/PoolSwapTest.json',
  PoolDonateTest: '@uniswap/v4-core/out/PoolDonateTest.sol/PoolDonateTest.json',
  PancakeV3Factory: '@pancakeswap/v3-core/artifacts/contracts/PancakeV3Factory.sol/PancakeV3Factory.json',
  PancakeV3Pool: '@pancakeswap/v3-core/artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json',
  AlgebraFactory: '@cryptoalgebra/integral-core/artifacts/contracts/AlgebraFactory.sol/AlgebraFactory.json',
  AlgebraPoolDeployer:
    '@cryptoalgebra/integral-core/artifacts/contracts/AlgebraPoolDeployer.sol/AlgebraPoolDeployer.json',
  AlgebraPool: '@cryptoalgebra/integral-core/artifacts/contracts/AlgebraPool.sol/AlgebraPool.json',
} as const;

interface Artifact {
  readonly abi: Abi;
  /** Text without a prefix (Waffle), or an object (Foundry). */
  readonly bytecode: string | { readonly object: string };
}

export async function readExchangeArtifact(name: keyof typeof FILES): Promise<CompiledContract> {
  const file = requireDemoTool().resolve(FILES[name]);
  const { abi, bytecode }: Artifact = JSON.parse(await readFile(file, 'utf8'));
  const digits = typeof bytecode === 'string' ? bytecode : bytecode.object;
  const code = digits.startsWith('0x') ? digits : `0x${digits}`;
  if (!isHex(code)) throw new DemoError(`${file} has no bytecode that can be deployed`);
  return { name, abi, bytecode: code };
}

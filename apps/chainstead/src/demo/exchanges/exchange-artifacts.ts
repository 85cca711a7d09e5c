import { readFile } from 'node:fs/promises';
import { type Abi, isHex } from 'viem';
import { DemoError } from '../demo-error.ts';
import type { CompiledContract } from '../devnet/compile-solidity.ts';
import { requireDemoTool } from '../devnet/demo-tools.ts';

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

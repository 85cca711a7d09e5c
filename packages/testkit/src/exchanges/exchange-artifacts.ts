import { readFile } from 'node:fs/promises';
import { type Abi, type Hex, isHex } from 'viem';
import type { CompiledContract } from '../contracts/compile-solidity.ts';
import { requireDemoTool } from '../contracts/demo-tools.ts';
import { TestkitError } from '../testkit-error.ts';

/** Compiled contracts of Uniswap, by the file of their npm package. */
const FILES = {
  UniswapV2Factory: '@uniswap/v2-core/build/UniswapV2Factory.json',
  UniswapV2Pair: '@uniswap/v2-core/build/UniswapV2Pair.json',
  UniswapV3Factory: '@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json',
  UniswapV3Pool: '@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json',
  PoolManager: '@uniswap/v4-core/out/PoolManager.sol/PoolManager.json',
  PoolModifyLiquidityTest: '@uniswap/v4-core/out/PoolModifyLiquidityTest.sol/PoolModifyLiquidityTest.json',
  PoolSwapTest: '@uniswap/v4-core/out/PoolSwapTest.sol/PoolSwapTest.json',
} as const;

interface Artifact {
  readonly abi: Abi;
  /** Waffle writes it without a prefix, Foundry into an object. */
  readonly bytecode: string | { readonly object: string };
}

/** The contract of Uniswap as its npm package has it. @throws TestkitError if the package has another form */
export async function readExchangeArtifact(name: keyof typeof FILES): Promise<CompiledContract> {
  const file = requireDemoTool().resolve(FILES[name]);
  const { abi, bytecode }: Artifact = JSON.parse(await readFile(file, 'utf8'));
  return { name, abi, bytecode: prefixed(typeof bytecode === 'string' ? bytecode : bytecode.object, file) };
}

function prefixed(digits: string, file: string): Hex {
  const code = digits.startsWith('0x') ? digits : `0x${digits}`;
  if (!isHex(code)) throw new TestkitError(`${file} has no bytecode that can be deployed`);
  return code;
}

import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { getContractAddress } from 'viem';
import { DemoError } from '../demo-error.ts';
import { compileContracts } from '../devnet/compile-contracts.ts';
import type { Devnet } from '../devnet/devnet.ts';
import type { DeployedContract } from '../market/market.ts';
import { readExchangeArtifact } from './exchange-artifacts.ts';
import type { ExchangePool } from './exchange-pool.ts';

export type ForkFactories = Readonly<Record<'v3-pancake' | 'algebra-integral', DeployedContract>>;

export async function deployForks(devnet: Devnet): Promise<ForkFactories> {
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

export interface FactoryCalls {
  readonly create: readonly [functionName: string, args: readonly unknown[]];
  readonly find: readonly [functionName: string, args: readonly unknown[]];
}

export function factoryCalls(
  version: Exclude<ExchangePool['version'], 'v4'>,
  tokens: readonly [Address, Address],
  fee: number,
): FactoryCalls {
  if (version === 'v2') return { create: ['createPair', tokens], find: ['getPair', tokens] };
  if (version === 'algebra-integral')
    return { create: ['createPool', [...tokens, '0x']], find: ['poolByPair', tokens] };
  return { create: ['createPool', [...tokens, fee]], find: ['getPool', [...tokens, fee]] };
}

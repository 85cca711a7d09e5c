import type { Address } from '@chainstead/core';
import {
  algebraCustomPool,
  algebraPool,
  binPairCreated,
  feePoolCreated,
  infinityPoolInitialized,
  managedPoolInitialized,
  type PoolCreationEvent,
  type PoolFacts,
  packedSalt,
  pairCreated,
  smartPoolCreated,
  solidlyPairCreated,
  spacedPoolCreated,
  stablePoolCreated,
  vaultPoolRegistered,
  wordSalt,
} from '../pools/pool-creation.ts';
import {
  binPair,
  binPairOfParameters,
  FEES,
  infinityBinKey,
  infinityKey,
  keyOfPositionManager,
  pairOfKind,
  pairOfTokens,
  poolByPair,
  poolByPairOrDeployer,
  poolOfFee,
  poolOfFeeOrSpacing,
  poolOfFeeUnits,
  poolOfKind,
  poolOfSpacing,
  poolWithCoins,
  registeredId,
  registeredPool,
  smartPool,
  TICK_SPACINGS,
} from './factory-getters.ts';
import type { PoolProof } from './pool-proof.ts';

export interface ExchangeFamily {
  readonly name: string;
  /** One contract holds all pools by id: it is the exchange's address. */
  readonly isVault: boolean;
  readonly creations: readonly PoolCreationEvent[];
  salts(token0: Address, token1: Address): readonly SaltedFacts[];
  readonly proof: PoolProof;
}

export interface SaltedFacts extends Omit<PoolFacts, 'tokens' | 'hooks'> {
  readonly salt: Uint8Array;
}

export const v2 = family('v2', [pairCreated], pairOfTokens, (token0, token1) => [
  salted(packedSalt(token0, token1)),
]);
export const solidly1 = family('solidly-1', [solidlyPairCreated], pairOfKind, stableSalts);
export const solidly2 = family('solidly-2', [stablePoolCreated], poolOfKind, stableSalts);
export const v3 = family('v3', [feePoolCreated], poolOfFeeOrSpacing, feeSalts);
export const v3Pancake = family('v3-pancake', [feePoolCreated], poolOfFee, feeSalts);
export const kyberElastic = family('v3-kyber-elastic', [feePoolCreated], poolOfFeeUnits, feeSalts);
export const slipstream = family('slipstream', [spacedPoolCreated], poolOfSpacing, (token0, token1) =>
  TICK_SPACINGS.map((tickSpacing) => ({ ...salted(wordSalt(token0, token1, tickSpacing)), tickSpacing })),
);
export const algebra = family('algebra', [algebraPool], poolByPair, (token0, token1) => [
  salted(wordSalt(token0, token1)),
]);
export const algebraIntegral = family('algebra-integral', [algebraPool, algebraCustomPool], poolByPairOrDeployer);
export const liquidityBook1 = family('lb-1', [binPairCreated], binPairOfParameters);
export const liquidityBook2 = family('lb-2', [binPairCreated], binPair);
export const balancer1 = family('balancer-1', [smartPoolCreated], smartPool);
export const curve = family('curve', [], poolWithCoins);
export const curveCrypto = family('curve-crypto', [], poolWithCoins);
export const v4 = vaultFamily('v4', [managedPoolInitialized], keyOfPositionManager);
export const infinity = vaultFamily('infinity', [infinityPoolInitialized], infinityKey);
export const infinityBin = vaultFamily('infinity-bin', [], infinityBinKey);
export const balancer2 = vaultFamily('balancer-2', [vaultPoolRegistered], registeredId);
export const balancer3 = vaultFamily('balancer-3', [], registeredPool);

export const familiesByName: ReadonlyMap<string, ExchangeFamily> = new Map(
  [
    ...[v2, solidly1, solidly2, v3, v3Pancake, kyberElastic, slipstream, algebra, algebraIntegral],
    ...[liquidityBook1, liquidityBook2, balancer1, curve, curveCrypto],
    ...[v4, infinity, infinityBin, balancer2, balancer3],
  ].map((each) => [each.name, each]),
);

function family(
  name: string,
  creations: readonly PoolCreationEvent[],
  proof: PoolProof,
  salts: ExchangeFamily['salts'] = () => [],
): ExchangeFamily {
  return { name, isVault: false, creations, proof, salts };
}

function vaultFamily(name: string, creations: readonly PoolCreationEvent[], proof: PoolProof): ExchangeFamily {
  return { name, isVault: true, creations, proof, salts: () => [] };
}

function salted(salt: Uint8Array): SaltedFacts {
  return { salt, fee: null, tickSpacing: null, isStable: null };
}

function stableSalts(token0: Address, token1: Address): readonly SaltedFacts[] {
  return [false, true].map((isStable) => ({
    ...salted(packedSalt(token0, token1, [Number(isStable)])),
    isStable,
  }));
}

function feeSalts(token0: Address, token1: Address): readonly SaltedFacts[] {
  return FEES.map((fee) => ({ ...salted(wordSalt(token0, token1, fee)), fee }));
}

import type { Address, Hash } from '@chainstead/core';
import { type PoolVaults, vaultsOf } from '../events/pool-vaults.ts';
import { concentratedExchanges } from './concentrated-exchanges.ts';
import { constantProductExchanges } from './constant-product-exchanges.ts';
import type { Deployment, Exchange } from './exchange.ts';
import { liquidityBookExchanges, managedExchanges, otherExchanges, solidlyExchanges } from './other-exchanges.ts';

export const exchanges: readonly Exchange[] = [
  ...constantProductExchanges,
  ...solidlyExchanges,
  ...concentratedExchanges,
  ...managedExchanges,
  ...liquidityBookExchanges,
  ...otherExchanges,
];

export interface ChainExchange {
  readonly exchange: Exchange;
  readonly deployment: Deployment;
}

export interface ChainExchanges {
  readonly all: readonly ChainExchange[];
  readonly byFactory: ReadonlyMap<Address, ChainExchange>;
  readonly vaults: PoolVaults;
  readonly creationTopics: readonly Hash[];
}

export function knownExchanges(chainId: number): ChainExchanges {
  const known = knownByChain.get(chainId);
  if (known !== undefined) return known;
  const all = exchanges.flatMap((exchange) =>
    exchange.deployments.map((deployment) => ({ exchange, deployment })),
  );
  const ofChain = chainExchanges(all.filter(({ deployment }) => deployment.chainId === chainId));
  knownByChain.set(chainId, ofChain);
  return ofChain;
}

export function chainExchanges(all: readonly ChainExchange[]): ChainExchanges {
  const inVaults = all.filter(({ exchange }) => exchange.family.isVault);
  const topics = all.flatMap(({ exchange }) => exchange.family.creations.map(({ topic }) => topic));
  return {
    all,
    byFactory: new Map(all.map((exchange) => [exchange.deployment.factory, exchange])),
    vaults: vaultsOf(inVaults.map(({ exchange, deployment }) => [deployment.factory, exchange.family.name])),
    creationTopics: [...new Set(topics)],
  };
}

const knownByChain = new Map<number, ChainExchanges>();

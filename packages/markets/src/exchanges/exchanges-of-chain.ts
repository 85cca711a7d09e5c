import type { Address, Hash } from '@chainstead/core';
import { type PoolVaults, vaultsOf } from '../events/pool-vaults.ts';
import { concentratedExchanges } from './concentrated-exchanges.ts';
import { constantProductExchanges } from './constant-product-exchanges.ts';
import type { Deployment, Exchange } from './exchange.ts';
import { liquidityBookExchanges } from './liquidity-book-exchanges.ts';
import { managedExchanges } from './managed-exchanges.ts';
import { otherExchanges } from './other-exchanges.ts';
import { solidlyExchanges } from './solidly-exchanges.ts';

/** All exchanges. A new one is an entry of the file of its family. */
export const exchanges: readonly Exchange[] = [
  ...constantProductExchanges,
  ...solidlyExchanges,
  ...concentratedExchanges,
  ...managedExchanges,
  ...liquidityBookExchanges,
  ...otherExchanges,
];

/** A deployment of an exchange on one chain. */
export interface ChainExchange {
  readonly exchange: Exchange;
  readonly deployment: Deployment;
}

/** The exchanges of one chain. */
export interface ChainExchanges {
  readonly all: readonly ChainExchange[];
  /** By factory, vault or pool manager. */
  readonly byFactory: ReadonlyMap<Address, ChainExchange>;
  readonly vaults: PoolVaults;
  /** topic0 values by which its factories announce pools. */
  readonly creationTopics: readonly Hash[];
}

/** The known exchanges of a chain; none of most test networks. */
export function knownExchanges(chainId: number): ChainExchanges {
  const known = chains.get(chainId);
  if (known !== undefined) return known;
  const all = exchanges.flatMap((exchange) =>
    exchange.deployments
      .filter((deployment) => deployment.chainId === chainId)
      .map((deployment) => ({ exchange, deployment })),
  );
  const of = chainExchanges(all);
  chains.set(chainId, of);
  return of;
}

/** These deployments of one chain, with what is looked up among them. */
export function chainExchanges(all: readonly ChainExchange[]): ChainExchanges {
  const inVaults = all.filter(({ exchange }) => exchange.family.isVault);
  const topics = all.flatMap(({ exchange }) => exchange.family.creations.map(({ event }) => event.topic));
  return {
    all,
    byFactory: new Map(all.map((one) => [one.deployment.factory, one])),
    vaults: vaultsOf(inVaults.map(({ exchange, deployment }) => [deployment.factory, exchange.family.name])),
    creationTopics: [...new Set(topics)],
  };
}

const chains = new Map<number, ChainExchanges>();

import type { Address, Log } from '@chainstead/core';
import type { PoolId } from '../events/pool-event.ts';
import { poolInVault } from '../events/pool-vaults.ts';
import { create2Address, type PoolFacts } from '../pools/pool-creation.ts';
import type { ChainExchange, ChainExchanges } from './exchanges-of-chain.ts';

export interface ProvenPool extends PoolFacts, ChainExchange {
  readonly pool: PoolId;
}

/** The emitter decides: anyone can emit such an event. */
export function decodePoolCreation(
  log: Pick<Log, 'address' | 'topics' | 'data'>,
  { byFactory, vaults }: Pick<ChainExchanges, 'byFactory' | 'vaults'>,
): ProvenPool | null {
  const emitter = byFactory.get(log.address);
  // Invariant: PRICE-PROVEN-POOLS
  if (emitter === undefined) return null;
  const [creation] = emitter.exchange.family.creations.flatMap((event) => event.decode(log) ?? []);
  if (creation === undefined) return null;
  return { ...creation, ...emitter, pool: poolInVault(creation.pool, log.address, vaults) };
}

export function recomputePool(
  pool: Address,
  tokens: readonly [Address, Address],
  { all }: Pick<ChainExchanges, 'all'>,
): ProvenPool | null {
  const [token0, token1] = tokens[0] < tokens[1] ? tokens : [tokens[1], tokens[0]];
  for (const { exchange, deployment } of all) {
    const { addressRule } = deployment;
    if (addressRule === null) continue;
    for (const { salt, ...facts } of exchange.family.salts(token0, token1))
      if (create2Address(addressRule.origin, salt, addressRule.initCodeHash) === pool)
        return { exchange, deployment, ...facts, pool, tokens: [token0, token1], hooks: null };
  }
  return null;
}

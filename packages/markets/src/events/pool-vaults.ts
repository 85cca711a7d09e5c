import type { Address } from '@chainstead/core';
import type { PoolId } from './pool-event.ts';

/**
 * Contracts of a chain that hold many pools, with the ending of their pools' identifiers. It is empty for the first contract of a family. Another
 * one may have pools of equal ids, so the digits of its address follow the id there.
 */
export type PoolVaults = ReadonlyMap<Address, string>;

/** Characters of an id of 32 bytes. */
const ID_LENGTH = 66;

/** Returns the identifier of a pool by its id in events of a vault. */
export function poolInVault(id: PoolId, vault: Address, vaults: PoolVaults): PoolId {
  // Shorter ids are addresses of contracts: they name one pool of the chain.
  return id.length === ID_LENGTH ? `${id}${vaults.get(vault) ?? ''}` : id;
}

/** Returns the id of a pool in calls and events of its vault; the address of any other pool. */
export function idInVault(pool: PoolId): PoolId {
  return pool.slice(0, ID_LENGTH) as PoolId;
}

/** Returns vaults with the endings of their pools. @param families family of each vault, in the order of the exchanges */
export function vaultsOf(families: readonly (readonly [Address, string])[]): PoolVaults {
  const seen = new Set<string>();
  return new Map(
    families.map(([vault, family]) => {
      const isFirst = !seen.has(family);
      seen.add(family);
      return [vault, isFirst ? '' : vault.slice(2)];
    }),
  );
}

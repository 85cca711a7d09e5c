import type { Address } from '@chainstead/core';
import type { PoolId } from './pool-event.ts';

/** Endings of pool identifiers. Further vaults of a family may have pools of equal ids. */
export type PoolVaults = ReadonlyMap<Address, string>;

/** Characters of an id of 32 bytes. */
const ID_LENGTH = 66;

export function poolInVault(id: PoolId, vault: Address, vaults: PoolVaults): PoolId {
  // Shorter ids are addresses of contracts: they name one pool of the chain.
  return id.length === ID_LENGTH ? `${id}${vaults.get(vault) ?? ''}` : id;
}

/** The id of a pool in its vault; the address of any other pool. */
export function idInVault(pool: PoolId): PoolId {
  return pool.slice(0, ID_LENGTH) as PoolId;
}

/** `families` in the order of the exchanges. */
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

import type { Address } from '@chainstead/core';
import type { PoolId } from './pool-event.ts';

/** Endings of pool ids: two vaults of a family may have equal ids. */
export type PoolVaults = ReadonlyMap<Address, string>;

const ID_LENGTH = 66;

export function poolInVault(id: PoolId, vault: Address, vaults: PoolVaults): PoolId {
  return id.length === ID_LENGTH ? `${id}${vaults.get(vault) ?? ''}` : id;
}

export function idInVault(pool: PoolId): PoolId {
  return pool.slice(0, ID_LENGTH) as PoolId;
}

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

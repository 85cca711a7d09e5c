import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, expectedTrue, hexText } from '@chainstead/db';

export interface OwnerLabel {
  readonly label: string | null;
  readonly entity: string | null;
  readonly entityLogo: string | null;
}

/** What lists call these accounts: one made for the chain comes before one for all chains, one that knows the entity before one that does not. */
export async function getOwnerLabels(
  database: Database,
  chain: Chain,
  accounts: readonly Address[],
): Promise<ReadonlyMap<Address, OwnerLabel>> {
  const rows = await database.query<OwnerLabel & { account: Address }>(
    `SELECT ${hexText('address')} AS account, label, entity, entity_logo AS "entityLogo" FROM address_labels
     WHERE address = ANY ($1::bytea[]) AND ${expectedTrue('chain_id IN ($2, 0)')}
     ORDER BY chain_id = 0 DESC, entity IS NULL DESC, source DESC`,
    [accounts.map(addressBytes), chain.id],
  );
  return new Map(rows.map(({ account, ...label }) => [account, label]));
}

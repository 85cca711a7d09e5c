import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexText } from '@chainstead/db';

/** Returns which of some accounts are requested on the chain. */
export async function findRequested(
  source: Pick<Database, 'query'>,
  { id }: Pick<Chain, 'id'>,
  accounts: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const rows = await source.query<{ wallet: Address }>(
    `SELECT ${hexText('wallet')} AS wallet FROM tracked_wallets WHERE chain_id = $1 AND wallet = ANY ($2::bytea[])`,
    [id, accounts.map(addressBytes)],
  );
  return new Set(rows.map(({ wallet }) => wallet));
}

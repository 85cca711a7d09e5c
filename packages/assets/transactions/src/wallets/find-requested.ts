import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexText, sql } from '@chainstead/db';

export async function findRequested(
  source: Pick<Database, 'query'>,
  { id }: Pick<Chain, 'id'>,
  accounts: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const rows = await source.query<{ wallet: Address }>(
    sql`SELECT ${hexText('wallet')} AS wallet FROM tracked_wallets WHERE chain_id = ${id} AND wallet = ANY (${accounts.map(addressBytes)}::bytea[])`,
  );
  return new Set(rows.map(({ wallet }) => wallet));
}

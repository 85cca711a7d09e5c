/** Work for packages that store figures computed from decimals. */
import { sql, type Transaction } from '@chainstead/db';
import { type DueTable, dueChannel } from '@chainstead/jobs';

export const CHANGED_DECIMALS_WORK = 'changed-decimals';

/** A row is deleted once all stored figures follow from the new decimals, or are due again. */
export const CHANGED_DECIMALS: DueTable = { name: 'changed_decimals', key: ['address', 'chain_id'] };

export interface TokenDecimals {
  readonly address: Buffer;
  readonly chainId: number;
  readonly decimals: number | null;
}

/** Both lists have the same tokens, in any order. */
export async function noteChangedDecimals(
  transaction: Transaction,
  former: readonly TokenDecimals[],
  stored: readonly TokenDecimals[],
): Promise<void> {
  const formerOf = new Map(former.map((token) => [keyOf(token), token.decimals]));
  const changed = stored.filter((token) => formerOf.get(keyOf(token)) !== token.decimals);
  if (changed.length === 0) return;
  await transaction.query(
    sql`INSERT INTO changed_decimals (address, chain_id) SELECT * FROM unnest(${changed.map(({ address }) => address)}::bytea[], ${changed.map(({ chainId }) => chainId)}::bigint[]) AS changed (address, chain_id) ORDER BY 1, 2
     ON CONFLICT (address, chain_id) DO UPDATE SET due_at = now()`,
  );
  for (const chainId of new Set(changed.map(({ chainId: id }) => id)))
    transaction.notify(dueChannel(CHANGED_DECIMALS_WORK, chainId));
}

function keyOf({ address, chainId }: TokenDecimals): string {
  return `${chainId} ${address.toString('hex')}`;
}

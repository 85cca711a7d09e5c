import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, hexText, type Sql, sql, type Transaction } from '@chainstead/db';
import { dueChannel, TOKEN_FACTS_WORK } from '@chainstead/jobs';

/** Known facts are served until the read. @param only condition on `tokens` */
export async function requestTokenFacts(
  transaction: Transaction,
  chainId: ChainId,
  addresses: readonly Address[],
  only: Sql = sql`true`,
): Promise<readonly Address[]> {
  if (addresses.length === 0) return [];
  const areGiven = sql`chain_id = ${chainId} AND address = ANY (${addresses.map(addressBytes)}::bytea[])`;
  await transaction.query(sql`SELECT FROM tokens WHERE ${areGiven} ORDER BY address, chain_id FOR UPDATE`);
  const due = await transaction.query<{ address: Address }>(
    sql`UPDATE tokens SET facts_due_at = now(), facts_attempts = CASE WHEN facts_status = 'known' THEN 0 ELSE facts_attempts END
     WHERE ${areGiven} AND (${only}) RETURNING ${hexText('address')} AS address`,
  );
  if (due.length > 0) transaction.notify(dueChannel(TOKEN_FACTS_WORK, chainId));
  return due.map(({ address }) => address);
}

/** After new code or an initialization. @param changes newest block by contract */
export async function noteAnnouncements(
  transaction: Transaction,
  chainId: ChainId,
  changes: ReadonlyMap<Address, number>,
): Promise<void> {
  const due = await requestTokenFacts(transaction, chainId, [...changes.keys()]);
  await transaction.query(
    sql`UPDATE tokens SET facts_from_block = change.block_number FROM unnest(${due.map(addressBytes)}::bytea[], ${due.map((address) => changes.get(address) ?? null)}::bigint[]) AS change (address, block_number)
     WHERE tokens.address = change.address AND tokens.chain_id = ${chainId}`,
  );
}

/** For facts of an abandoned branch. */
export async function rollBackAnnouncements(
  transaction: Transaction,
  chainId: ChainId,
  ancestor: number,
): Promise<void> {
  const announced = await transaction.query<{ address: Address }>(
    sql`SELECT ${hexText('address')} AS address FROM tokens WHERE chain_id = ${chainId} AND facts_from_block > ${ancestor}`,
  );
  await noteAnnouncements(transaction, chainId, new Map(announced.map(({ address }) => [address, ancestor])));
}

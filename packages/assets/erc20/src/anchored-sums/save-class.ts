import type { Address } from '@chainstead/core';
import { addressBytes, hexText, sql, type Transaction } from '@chainstead/db';
import type { StateReadingContext } from '@chainstead/node-reads';

/** `live` stays, unless the contract is destroyed (`none`). @param reported block by token */
export async function saveClass(
  transaction: Transaction,
  { chain, logger }: StateReadingContext,
  found: 'sum' | 'live' | 'none' | 'gone',
  reported: ReadonlyMap<Address, number>,
): Promise<void> {
  if (reported.size === 0) return;
  const kept = found === 'gone' ? 'none' : found;
  const saved = await transaction.query<{ token: Address }>(
    sql`INSERT INTO erc20_token_classes AS known (token, chain_id, class, since_block, told_at)
     SELECT token, ${chain.id}::bigint, ${kept}::text, block, now() FROM unnest(${[...reported.keys()].map(addressBytes)}::bytea[], ${[...reported.values()]}::bigint[]) AS reported(token, block) ORDER BY token
     ON CONFLICT (token, chain_id) DO UPDATE SET class = excluded.class, since_block = excluded.since_block, told_at = excluded.told_at
       WHERE (known.class <> 'live' OR ${found === 'gone'}::boolean) AND (known.class <> excluded.class OR excluded.class = 'none')
     RETURNING ${hexText('token')} AS token`,
  );
  if (saved.length > 0)
    logger.info(
      { chain: chain.key, class: found, tokens: saved.map(({ token }) => token) },
      'Tokens classified by how transfers change their balances',
    );
}

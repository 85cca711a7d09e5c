import type { Address } from '@chainstead/core';
import { addressBytes, hexText, type Transaction } from '@chainstead/db';
import type { StateReadingContext } from '@chainstead/node-reads';

/**
 * Stores the class of tokens: transfers determine balances, they don't, or the contract returns none. `live` is
 * permanent whatever later reads return, unless the contract is destroyed, which is stored as `none`.
 * @param reported the tokens, each with the block of the evidence
 */
export async function saveClass(
  transaction: Transaction,
  { chain, logger }: StateReadingContext,
  found: 'sum' | 'live' | 'none' | 'gone',
  reported: ReadonlyMap<Address, number>,
): Promise<void> {
  if (reported.size === 0) return;
  const kept = found === 'gone' ? 'none' : found;
  const saved = await transaction.query<{ token: Address }>(
    `INSERT INTO erc20_token_classes AS known (token, chain_id, class, since_block, told_at)
     SELECT token, $1::bigint, $2::text, block, now() FROM unnest($3::bytea[], $4::bigint[]) AS reported(token, block) ORDER BY token
     ON CONFLICT (token, chain_id) DO UPDATE SET class = excluded.class, since_block = excluded.since_block, told_at = excluded.told_at
       WHERE (known.class <> 'live' OR $5::boolean) AND (known.class <> excluded.class OR excluded.class = 'none')
     RETURNING ${hexText('token')} AS token`,
    [chain.id, kept, [...reported.keys()].map(addressBytes), [...reported.values()], found === 'gone'],
  );
  if (saved.length > 0)
    logger.info(
      { chain: chain.key, class: found, tokens: saved.map(({ token }) => token) },
      'Tokens classified by how transfers change their balances',
    );
}

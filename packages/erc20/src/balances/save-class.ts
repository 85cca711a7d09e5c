import type { Address } from '@chainstead/core';
import { addressBytes, hexText, type Transaction } from '@chainstead/db';
import type { StateReadingContext } from '@chainstead/state';

/**
 * Keeps that transfers of tokens tell balances, that they don't, or that contracts tell none. `live` stays, whatever a contract
 * says later, unless the contract is gone, which is kept as `none`.
 * @param told the tokens, each with the block that showed it
 */
export async function saveClass(
  transaction: Transaction,
  { chain, logger }: StateReadingContext,
  found: 'sum' | 'live' | 'none' | 'gone',
  told: ReadonlyMap<Address, number>,
): Promise<void> {
  if (told.size === 0) return;
  const kept = found === 'gone' ? 'none' : found;
  const saved = await transaction.query<{ token: Address }>(
    `INSERT INTO erc20_token_classes AS known (token, chain_id, class, since_block, told_at)
     SELECT token, $1::bigint, $2::text, block, now() FROM unnest($3::bytea[], $4::bigint[]) AS told(token, block) ORDER BY token
     ON CONFLICT (token, chain_id) DO UPDATE SET class = excluded.class, since_block = excluded.since_block, told_at = excluded.told_at
       WHERE (known.class <> 'live' OR $5::boolean) AND (known.class <> excluded.class OR excluded.class = 'none')
     RETURNING ${hexText('token')} AS token`,
    [chain.id, kept, [...told.keys()].map(addressBytes), [...told.values()], found === 'gone'],
  );
  if (saved.length > 0)
    logger.info(
      { chain: chain.key, class: found, tokens: saved.map(({ token }) => token) },
      'What transfers of tokens tell of balances is known',
    );
}

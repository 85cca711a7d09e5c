import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange } from '@chainstead/core';
import { addressBytes, type Database, expectedTrue } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { HAS_ROLE, ROLES } from '../stored/schema.ts';
import type { Stretch } from './find-nonce-changes.ts';

/** Reads which transactions are stored that an account sent. @returns whether they are all that were sent in a stretch */
export async function readStoredSent(
  database: Pick<Database, 'query'>,
  { id }: Pick<Chain, 'id'>,
  account: Address,
  { from, to }: BlockRange,
): Promise<(stretch: Stretch) => boolean> {
  const rows = await database.query<{ block: number; sent: number }>(
    `SELECT block_number::int8 AS block, count(*) AS sent FROM account_transactions
      WHERE account_key = $2::bigint AND ${expectedTrue('account = $3::bytea')} AND chain_id = $1 AND block_number BETWEEN $4::bigint AND $5::bigint
        AND ${HAS_ROLE} AND roles & ${ROLES.sender} <> 0
      GROUP BY block_number`,
    [id, addressKey(account), addressBytes(account), from, to],
  );
  return ({ after, until, countBefore, count }) => {
    const sent = rows.reduce((sum, row) => sum + (after < row.block && row.block <= until ? row.sent : 0), 0);
    return sent === count - countBefore;
  };
}

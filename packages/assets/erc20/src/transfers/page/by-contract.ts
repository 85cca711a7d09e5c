import { asSql, expectedTrue, type Sql, sql } from '@chainstead/db';
import { IS_GIVING_SIDE } from '@chainstead/db/column-types';
import type { ChainInSql } from '@chainstead/pages';
import { NFT_STANDARDS } from '@chainstead/tokens/token-book';

/** Contains each transfer once: the side that did not only receive. */
export const BY_CONTRACT = 'erc20_transfer_sides_by_contract';

/** Conditions for that index. @param token its 20 bytes */
export function ofToken(token: Sql): readonly Sql[] {
  return [
    sql`token_key(token) = token_key(${token})`,
    expectedTrue(sql`token = ${token}`),
    asSql(IS_GIVING_SIDE),
  ];
}

export function isOfNfts(token: Sql, chainId: ChainInSql): Sql {
  return sql`(SELECT standard IN (${NFT_STANDARDS}) FROM tokens WHERE address = ${token} AND chain_id = ${chainId}) IS TRUE`;
}

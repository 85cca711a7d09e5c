import { asSql, rawSql, sql } from '@chainstead/db';
import { DIRECTION, IS_GIVING_SIDE } from '@chainstead/db/column-types';
import { defineSums, type SubjectProjection } from '@chainstead/sync/datasets';
import { BY_CONTRACT } from './page/transfer-response.ts';
import { erc20Transfers, erc20TokenCounts as table } from './schema.ts';

const NAME = 'erc20-token-counts';

/** Only for tokens with very many transfers: a counter costs every commit a lookup. */
export const erc20TokenCounts: SubjectProjection = {
  ...defineSums({
    name: NAME,
    version: 1,
    source: erc20Transfers,
    table,
    key: ['token', 'chainId'],
    sums: { transfers: () => rawSql('1') },
    where: ({ direction }) => sql`${direction} <> ${DIRECTION.received}`,
    subjects: {
      column: 'token',
      rowsOf: (token) => [
        sql`token_key(token) = token_key(${token}) AND token = ${token} AND ${asSql(IS_GIVING_SIDE)}`,
      ],
      indexes: [BY_CONTRACT],
    },
  }),
  dropped: (chainId) => [
    sql`UPDATE subject_projections SET built_to = -1, is_stale = true, rows = 0 WHERE chain_id = ${chainId} AND state = ${NAME}`,
  ],
};

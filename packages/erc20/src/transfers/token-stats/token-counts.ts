import type { SubjectState } from '@chainstead/sync';
import { BY_CONTRACT } from '../page/by-contract.ts';

/**
 * How many transfers a token has, of those that somebody asked about. Only for tokens of which counting each time would take long: a
 * counter costs every commit of the chain a look.
 */
export const erc20TokenCounts: SubjectState = {
  name: 'erc20-token-counts',
  version: 1,
  tables: ['erc20_token_counts'],
  subjects: {
    column: 'token',
    rowsOf: (token) => [`token_key(token) = token_key(${token}) AND token = ${token} AND direction <> 1`],
    indexes: [BY_CONTRACT],
  },
  added: (rows, kept) => [change(rows, kept, '')],
  removed: (rows, kept) => [change(rows, kept, '-')],
  // Which tokens the rows were of is not known any more: each is counted anew when somebody asks.
  dropped: (chainId) => [
    `UPDATE kept_subjects SET built_to = -1, is_stale = true, rows = 0 WHERE chain_id = ${chainId} AND state = 'erc20-token-counts'`,
  ],
};

function change(rows: string, kept: string, sign: '' | '-'): string {
  return `INSERT INTO erc20_token_counts AS counted (token, chain_id, transfers)
SELECT moved.token, moved.chain_id, ${sign}count(*)
FROM ${rows} AS moved JOIN ${kept} AS kept ON kept.subject = moved.token AND moved.block_number <= kept.built_to
WHERE moved.direction <> 1 GROUP BY moved.token, moved.chain_id ORDER BY moved.token, moved.chain_id
ON CONFLICT (token, chain_id) DO UPDATE SET transfers = counted.transfers + excluded.transfers`;
}

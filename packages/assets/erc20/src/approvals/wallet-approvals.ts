import { type ColumnOf, columnList, columnsAs, deleteByKey, type Sql, sql } from '@chainstead/db';
import { joinSubjects, type RowsChange, type SubjectProjection } from '@chainstead/sync/datasets';
import { erc20Approvals, erc20WalletApprovals as table } from './schema.ts';

/** In any order of events. A revoked approval keeps its row, with 0. */
export const erc20WalletApprovals: SubjectProjection = {
  name: 'erc20-wallet-approvals',
  version: 1,
  tables: [table],
  subjects: {
    column: 'wallet',
    rowsOf: (wallet) => [sql`owner_key = address_key(${wallet}) AND owner = ${wallet}`],
    indexes: ['erc20_approvals_pkey'],
  },
  added: (change) => [storeNewest(change.rows, change)],
  removed: (change) => {
    const touched = sql`(SELECT DISTINCT ${approvalKey('gone')} FROM ${change.rows} AS gone
    ${joinSubjects(change, gone.owner, gone.blockNumber)})`;
    const remaining = sql`(SELECT approval.* FROM ${touched} AS gone
    JOIN ${change.remaining} AS approval ON ${approval.ownerKey} = address_key(${gone.owner}) AND (${approvalKey('approval')}) = (${approvalKey('gone')}))`;
    return [
      deleteByKey(table, KEY, sql`SELECT owner AS wallet, chain_id, token, spender FROM ${touched} AS gone`),
      storeNewest(remaining, change),
    ];
  },
};

const KEY: readonly ColumnOf<typeof table>[] = ['wallet', 'chainId', 'token', 'spender'];
const POSITION: readonly ColumnOf<typeof table>[] = ['blockNumber', 'transactionIndex', 'logIndex'];
const VALUES: readonly ColumnOf<typeof table>[] = ['value', ...POSITION, 'transactionHash'];
const approval = columnsAs(erc20Approvals, 'approval');
const gone = columnsAs(erc20Approvals, 'gone');

function approvalKey(alias: string): Sql {
  return columnList(erc20Approvals, ['owner', 'chainId', 'token', 'spender'], alias);
}

function storeNewest(approvals: Sql, change: RowsChange): Sql {
  const list = (columns: readonly ColumnOf<typeof table>[], alias?: string) => columnList(table, columns, alias);
  const columns = list([...KEY, ...VALUES]);
  return sql`INSERT INTO erc20_wallet_approvals AS stored (${columns})
SELECT DISTINCT ON (${list(KEY)}) ${columns}
FROM (
  SELECT ${approval.owner} AS wallet, approval.* FROM ${approvals} AS approval
    ${joinSubjects(change, approval.owner, approval.blockNumber)}
) AS found
ORDER BY ${list(KEY)}, block_number DESC, transaction_index DESC, log_index DESC
ON CONFLICT (${list(KEY)}) DO UPDATE SET (${list(VALUES)}) = (${list(VALUES, 'excluded')})
WHERE (${list(POSITION, 'excluded')}) > (${list(POSITION, 'stored')})`;
}

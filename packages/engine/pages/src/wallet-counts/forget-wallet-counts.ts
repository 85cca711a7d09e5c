import { columnsAs, joinSql, rawSql, type Sql, sql } from '@chainstead/db';
import type { RowsChange, SubjectProjection } from '@chainstead/sync/datasets';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { walletCounts as table } from './schema.ts';

const NAME = 'wallet-counts-of-';

export function walletCountsState(dataset: string): string {
  return `${NAME}${dataset}`;
}

export function forgetWalletCounts(dataset: string, accounts: readonly PgColumn[]): SubjectProjection {
  const stored = columnsAs(table, 'stored');
  const forget = ({ rows, subjects }: RowsChange): readonly Sql[] => {
    const touched = accounts.map(
      ({ name }) => sql`SELECT subjects.subject, changed.chain_id, changed.block_number
        FROM ${rows} AS changed JOIN ${subjects} AS subjects ON subjects.subject = changed.${rawSql(name)}`,
    );
    return [
      sql`DELETE FROM wallet_counts AS stored USING (${joinSql(touched, ' UNION ')}) AS touched
       WHERE ${stored.wallet} = touched.subject AND ${stored.chainId} = touched.chain_id
         AND touched.block_number BETWEEN ${stored.firstBlock} AND ${stored.lastBlock}`,
    ];
  };
  return {
    name: walletCountsState(dataset),
    version: 1,
    tables: [table],
    subjects: { column: 'wallet', rowsOf: () => [sql`false`], indexes: [] },
    added: forget,
    removed: forget,
    dropped: (chainId, { from, to }) => [
      sql`DELETE FROM wallet_counts WHERE chain_id = ${chainId} AND first_block <= ${to} AND last_block >= ${from}`,
    ],
  };
}

import { type Database, rawSql, sql } from '@chainstead/db';
import { runProjection } from '@chainstead/sync/ingest';
import { traderSumsOfFeeds, traderSumsOfSwaps } from '../trader-sums-projection.ts';

/** Removes the rows of a block as a commit does, or reports them as added. Only stored sums of traders follow. */
export async function changeRows(
  database: Database,
  kind: 'added' | 'removed',
  table: 'swaps' | 'feed_answers',
  block: number,
): Promise<void> {
  const projection = table === 'swaps' ? traderSumsOfSwaps : traderSumsOfFeeds;
  await database.transaction(async (transaction) => {
    await transaction.query(
      sql`CREATE TEMP TABLE changed ON COMMIT DROP AS SELECT * FROM ${rawSql(table)} WHERE block_number = ${rawSql(block)}`,
    );
    if (kind === 'removed')
      await transaction.query(sql`DELETE FROM ${rawSql(table)} WHERE block_number = ${rawSql(block)}`);
    await runProjection(transaction, false, (access) =>
      projection[kind]({ rows: rawSql('changed'), subjects: rawSql(''), remaining: rawSql(table), access }),
    );
  });
}

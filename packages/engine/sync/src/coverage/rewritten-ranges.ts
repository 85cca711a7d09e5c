/** Rewritten rows, for copies outside the database. Rollbacks change block hashes instead. */
import type { BlockRange, ChainId } from '@chainstead/core';
import { type Database, sql, type Transaction } from '@chainstead/db';

export async function recordRewritten(
  transaction: Transaction,
  chainId: ChainId,
  datasets: readonly string[],
  { from, to }: BlockRange,
): Promise<void> {
  await transaction.query(
    sql`DELETE FROM rewritten_ranges WHERE chain_id = ${chainId} AND dataset = ANY(${datasets}::text[]) AND first_block BETWEEN ${from} AND ${to} AND last_block <= ${to}`,
  );
  await transaction.query(
    sql`INSERT INTO rewritten_ranges (chain_id, dataset, first_block, last_block) SELECT ${chainId}, unnest(${datasets}::text[]), ${from}, ${to}`,
  );
}

/** Changes whenever rows of the range are rewritten; empty if they never were. */
export async function readRevisions(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
  dataset: string,
  ranges: readonly BlockRange[],
): Promise<readonly string[]> {
  const rows = await source.query<{ revision: string }>(
    sql`SELECT coalesce((SELECT md5(string_agg(revision::text, ',' ORDER BY revision)) FROM rewritten_ranges AS record
         WHERE record.chain_id = ${chainId} AND record.dataset = ${dataset} AND record.first_block <= wanted.last_block AND record.last_block >= wanted.first_block), '') AS revision
       FROM unnest(${ranges.map(({ from }) => from)}::bigint[], ${ranges.map(({ to }) => to)}::bigint[]) WITH ORDINALITY AS wanted(first_block, last_block, place) ORDER BY place`,
  );
  return rows.map(({ revision }) => revision);
}

/** Compares what two databases hold of a chain, row by row: facts, not clocks or job ids. */
import type { Database } from '@chainstead/db';

export interface TableDifference {
  readonly table: string;
  /** Rows (as text) that only the simulated database has, and that only the fresh one has; the first few of each. */
  readonly surplus: readonly string[];
  readonly missing: readonly string[];
}

/** What is compared, as queries of one text column. Blocks: those that caused rows; tokens: those with transfers. */
const FACTS: Readonly<Record<string, string>> = {
  erc20_transfers: 'SELECT t::text AS row FROM erc20_transfers t',
  blocks: `SELECT concat_ws(' ', block_number, block_hash, block_timestamp) AS row FROM blocks b
            WHERE EXISTS (SELECT 1 FROM erc20_transfers t WHERE t.chain_id = b.chain_id AND t.block_number = b.block_number)`,
  tokens: `SELECT address::text AS row FROM tokens k
            WHERE EXISTS (SELECT 1 FROM erc20_transfers t WHERE t.chain_id = k.chain_id AND t.token = k.address)`,
  covered: `SELECT concat_ws(' ', dataset, range_agg(int8range(first_block, last_block, '[]'))) AS row FROM sync_ranges GROUP BY dataset`,
};

const SHOWN_ROWS = 5;

export async function compareTables(simulated: Database, fresh: Database): Promise<TableDifference[]> {
  const differences: TableDifference[] = [];
  for (const [table, query] of Object.entries(FACTS)) {
    const [ours, truth] = [await rowsOf(simulated, query), await rowsOf(fresh, query)];
    const surplus = ours.difference(truth);
    const missing = truth.difference(ours);
    if (surplus.size > 0 || missing.size > 0)
      differences.push({
        table,
        surplus: [...surplus].slice(0, SHOWN_ROWS),
        missing: [...missing].slice(0, SHOWN_ROWS),
      });
  }
  return differences;
}

async function rowsOf(database: Database, query: string): Promise<Set<string>> {
  const rows = await database.query<{ row: string }>(query);
  const distinct = new Set(rows.map(({ row }) => row));
  if (distinct.size !== rows.length) throw new Error(`Duplicate rows in: ${query}`);
  return distinct;
}

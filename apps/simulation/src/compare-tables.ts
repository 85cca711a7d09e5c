/** Compares what two databases hold of a chain, row by row: facts, not clocks or job ids. */
import type { Database } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync';

export interface TableDifference {
  readonly table: string;
  /** Rows (as text) that only the simulated database has, and that only the fresh one has; the first few of each. */
  readonly surplus: readonly string[];
  readonly missing: readonly string[];
}

/** Rows that say no more than none: which of them there are depends on the order in which blocks arrived. */
const EMPTY_ROWS: Readonly<Record<string, string>> = {
  erc20_token_counts: 't.transfers = 0',
  nft_wallet_tokens: 't.amount = 0',
  nft_wallet_collections: 't.ids_held = 0',
};

const SHOWN_ROWS = 5;

export async function compareTables(
  simulated: Database,
  fresh: Database,
  datasets: readonly Dataset[],
): Promise<TableDifference[]> {
  const differences: TableDifference[] = [];
  for (const [table, query] of Object.entries(factsOf(datasets))) {
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

/** What is compared, as queries of one text column. Blocks: those that caused rows; tokens: those that rows mention. */
function factsOf(datasets: readonly Dataset[]): Readonly<Record<string, string>> {
  const tables = datasets.flatMap(({ table, derived = [] }) => [
    table.name,
    ...derived.flatMap((state) => state.tables),
  ]);
  const blocksWithRows = datasets
    .map(({ table }) => `SELECT chain_id, block_number FROM ${table.name}`)
    .join(' UNION ');
  const mentioned = datasets
    .filter((dataset) => dataset.contracts !== undefined)
    .map((dataset) => `SELECT chain_id, ${contractColumn(dataset)} AS address FROM ${dataset.table.name}`)
    .join(' UNION ');
  return {
    ...Object.fromEntries(
      tables.map((table) => [
        table,
        `SELECT t::text AS row FROM ${table} t WHERE NOT (${EMPTY_ROWS[table] ?? 'false'})`,
      ]),
    ),
    blocks: `SELECT concat_ws(' ', block_number, block_hash, block_timestamp) AS row FROM blocks WHERE (chain_id, block_number) IN (${blocksWithRows})`,
    tokens: `SELECT concat_ws(' ', address, seen_as) AS row FROM tokens WHERE (chain_id, address) IN (${mentioned})`,
    covered: `SELECT concat_ws(' ', dataset, range_agg(int8range(first_block, last_block, '[]'))) AS row FROM sync_ranges GROUP BY dataset`,
  };
}

/** Where a dataset's rows name the contract that they are of. */
function contractColumn({ name, table }: Dataset): string {
  const column = ['token', 'token_address'].find((candidate) => table.columns.includes(candidate));
  if (column === undefined) throw new Error(`The rows of ${name} mention contracts in no column that is known here`);
  return column;
}

async function rowsOf(database: Database, query: string): Promise<Set<string>> {
  const rows = await database.query<{ row: string }>(query);
  const distinct = new Set(rows.map(({ row }) => row));
  if (distinct.size !== rows.length) throw new Error(`Duplicate rows in: ${query}`);
  return distinct;
}

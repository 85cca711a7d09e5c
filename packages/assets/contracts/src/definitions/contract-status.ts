import { type BlockRange, type ChainId, mergeRanges } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import { listCoverage } from '@chainstead/sync/requests';
import { UNDECODED } from '../tables/event-table.ts';
import { readMissingTables } from '../tables/missing-tables.ts';
import { readDefinitions } from './contract-definition.ts';

export interface ContractStatus {
  readonly chainId: ChainId;
  readonly table: string;
  readonly rows: number;
  readonly isExact: boolean;
  readonly bytes: number;
  readonly undecoded: number;
  /** Dropped outside of Chainstead. Nothing is stored until the contract is added again. */
  readonly isMissing: boolean;
  readonly suspendedReason: string | null;
  readonly blocks: readonly BlockRange[];
}

/** Bytes. Larger tables are not counted. */
const COUNT_BYTES_MAX = 64 * 1024 * 1024;

/** @param name null: all contracts */
export async function readContractStatuses(
  database: Database,
  name: string | null = null,
): Promise<readonly ContractStatus[]> {
  const statuses: ContractStatus[] = [];
  const missing = await readMissingTables(database);
  for (const { chainId, tables, suspendedReason } of await readDefinitions(database, name)) {
    const coverage = await listCoverage(database, chainId);
    for (const { name: table } of tables) {
      const blocks = mergeRanges(coverage.filter(({ dataset }) => dataset === table).map(({ range }) => range));
      const isMissing = missing.has(table);
      const rows = isMissing ? NO_ROWS : await countRows(database, table, chainId);
      statuses.push({ ...{ chainId, table, suspendedReason, isMissing, blocks }, ...rows });
    }
  }
  return statuses;
}

type RowCounts = Pick<ContractStatus, 'rows' | 'isExact' | 'bytes' | 'undecoded'>;

const NO_ROWS: RowCounts = { rows: 0, isExact: true, bytes: 0, undecoded: 0 };

async function countRows(database: Database, name: string, chainId: ChainId): Promise<RowCounts> {
  const [size] = await database.query<{ bytes: number }>(
    sql`SELECT sum(pg_total_relation_size(relid))::bigint AS bytes FROM pg_partition_tree(${name}::regclass)`,
  );
  const bytes = size?.bytes ?? 0;
  const isExact = bytes <= COUNT_BYTES_MAX;
  const [undecoded] = await database.query<{ rows: number }>(
    sql`SELECT count(*) AS rows FROM ${rawSql(name)} WHERE chain_id = ${chainId} AND ${rawSql(UNDECODED)} IS NOT NULL`,
  );
  const counts = { isExact, bytes, undecoded: undecoded?.rows ?? 0 };
  if (!isExact) return { ...counts, rows: await estimateRows(database, name, chainId) };
  const [counted] = await database.query<{ rows: number }>(
    sql`SELECT count(*) AS rows FROM ${rawSql(name)} WHERE chain_id = ${chainId}`,
  );
  return { ...counts, rows: counted?.rows ?? 0 };
}

async function estimateRows(database: Database, name: string, chainId: ChainId): Promise<number> {
  const [plan] = await database.query<{ 'QUERY PLAN': readonly { Plan: { 'Plan Rows': number } }[] }>(
    // A literal: with a parameter, the plan ignores its value.
    sql`EXPLAIN (FORMAT JSON) SELECT FROM ${rawSql(name)} WHERE chain_id = ${rawSql(Number(chainId))}`,
  );
  return plan?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0;
}

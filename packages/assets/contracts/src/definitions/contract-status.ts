import { type BlockRange, type ChainId, mergeRanges } from '@chainstead/core';
import { type Database, rawSql, sql, type Transaction } from '@chainstead/db';
import { type CallableItem, readCallableItems } from '@chainstead/events/decoding';
import { type AuditActor, recordAudit } from '@chainstead/http/audit-log';
import { listCoverage } from '@chainstead/sync/requests';
import { UNDECODED } from '../tables/event-table.ts';
import { readMissingTables } from '../tables/missing-tables.ts';
import { ContractRefusedError, readDefinitions } from './contract-definition.ts';

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

interface ContractKey {
  readonly name: string;
  readonly chainId: ChainId;
}

export async function readFunctions(
  database: Pick<Database, 'query'>,
  { name, chainId }: ContractKey,
): Promise<readonly CallableItem[]> {
  const [row] = await database.query<{ functions: unknown }>(
    sql`SELECT functions FROM contract_definitions WHERE name = ${name} AND chain_id = ${chainId}`,
  );
  return readCallableItems(row?.functions) ?? [];
}

/** Replaces those with the same signature. @throws ContractRefusedError if the ABI has none */
export async function addFunctions(
  database: Database,
  contract: ContractKey,
  { abi, by }: { readonly abi: unknown; readonly by: AuditActor },
): Promise<void> {
  const { name, chainId } = contract;
  const items = readCallableItems(abi) ?? [];
  const functions = items.filter(({ type }) => type === 'function').length;
  if (functions === 0)
    throw new ContractRefusedError(
      'CONTRACT_FUNCTIONS_MISSING',
      `The ABI of ${name} has no view functions`,
      'Give the complete ABI',
    );
  await database.transaction(async (transaction) => {
    await saveFunctions(transaction, contract, items);
    const details = { chain_id: chainId, functions };
    await recordAudit(transaction, by, { action: 'contract.functions', target: name, details });
  });
}

export async function saveFunctions(
  transaction: Transaction,
  contract: ContractKey,
  items: readonly CallableItem[],
): Promise<void> {
  if (items.length === 0) return;
  const { name, chainId } = contract;
  await transaction.query(
    sql`SELECT FROM contract_definitions WHERE name = ${name} AND chain_id = ${chainId} FOR UPDATE`,
  );
  const all = readCallableItems([...items, ...(await readFunctions(transaction, contract))]);
  const functions = JSON.stringify(all);
  await transaction.query(
    sql`UPDATE contract_definitions SET functions = ${functions}::jsonb
      WHERE name = ${name} AND chain_id = ${chainId} AND functions IS DISTINCT FROM ${functions}::jsonb`,
  );
}

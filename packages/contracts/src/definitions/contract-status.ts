import type { BlockRange, ChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { listCoverage } from '@chainstead/sync';
import { UNDECODED } from '../tables/event-table.ts';
import { readDefinitions } from './contract-definition.ts';

/** Rows and coverage of an event of a contract. */
export interface ContractStatus {
  readonly chainId: ChainId;
  /** `contracts.vault_deposit` */
  readonly table: string;
  /** Rows of all chains that share the table. */
  readonly rows: number;
  /** False: `rows` is the estimate of the planner. */
  readonly isExact: boolean;
  /** Bytes of the table with its indexes. */
  readonly bytes: number;
  /** Logs of the chain that the ABI does not fit. */
  readonly undecoded: number;
  /** Why nothing more is stored; null: the contract is indexed. */
  readonly suspendedReason: string | null;
  /** Indexed blocks, ascending. */
  readonly blocks: readonly BlockRange[];
}

/** Rows of larger tables are not counted. Bytes. */
const COUNT_BYTES_MAX = 64 * 1024 * 1024;

/** Returns the status of every event of every contract, by name and chain. */
export async function readContractStatuses(database: Database): Promise<readonly ContractStatus[]> {
  const statuses: ContractStatus[] = [];
  for (const { chainId, tables, suspendedReason } of await readDefinitions(database)) {
    const coverage = await listCoverage(database, chainId);
    for (const { name } of tables) {
      const [size] = await database.query<{ bytes: number; estimate: number }>(
        `SELECT pg_total_relation_size(oid) AS bytes, greatest(reltuples, 0)::float8 AS estimate FROM pg_class WHERE oid = to_regclass($1)`,
        [name],
      );
      const bytes = size?.bytes ?? 0;
      const isExact = bytes <= COUNT_BYTES_MAX;
      const [counted] = isExact ? await database.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${name}`) : [];
      const [undecoded] = await database.query<{ rows: number }>(
        `SELECT count(*) AS rows FROM ${name} WHERE chain_id = $1 AND ${UNDECODED} IS NOT NULL`,
        [chainId],
      );
      statuses.push({
        ...{ chainId, table: name, isExact, bytes, suspendedReason },
        rows: counted?.rows ?? Math.round(size?.estimate ?? 0),
        undecoded: undecoded?.rows ?? 0,
        blocks: coverage.filter(({ dataset }) => dataset === name).map(({ range }) => range),
      });
    }
  }
  return statuses;
}

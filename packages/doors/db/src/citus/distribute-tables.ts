import { errorText } from '@chainstead/core';
import type { Database, Transaction } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { rawSql, sql } from '../sql.ts';
import type { DistributionPlan, PlannedTable } from './plan-distribution.ts';
import { readLayout } from './read-layout.ts';
import { TABLE_PLACEMENTS } from './table-placements.ts';
import { transactionLock } from './transaction-lock.ts';

export interface DistributionProgress {
  onStart?(table: PlannedTable): void;
  /** @param rows number of moved rows; null if another process or an earlier run moved them */
  onDone?(table: PlannedTable, rows: number | null): void;
}

/**
 * Each table in its own transaction: its rows are on the coordinator or in shards, never in both or neither. Rows are
 * counted before and after. May be killed at any moment and run again. Writers of a table wait; readers continue.
 * @throws {DatabaseError} DISTRIBUTION_FAILED
 */
export async function distributeTables(
  database: Database,
  { tables }: DistributionPlan,
  progress: DistributionProgress = {},
): Promise<void> {
  for (const planned of tables) {
    if (planned.work === 'none') continue;
    progress.onStart?.(planned);
    try {
      const rows = planned.work === 'distribute' ? await distribute(database, planned) : null;
      // Frees the coordinator's invisible copy of the table.
      await takingItsTime(database, (transaction) =>
        transaction.query(sql`SELECT truncate_local_data_after_distributing_table(${planned.table}::regclass)`),
      );
      progress.onDone?.(planned, rows);
    } catch (error) {
      throw new DatabaseError({
        code: 'DISTRIBUTION_FAILED',
        message: `The table ${planned.table} could not be distributed: ${errorText(error)}`,
        facts: { table: planned.table },
        remedy:
          'Fix the cause, then run "chainstead distribute" again. This table is unchanged, earlier tables stay distributed',
        retryable: true,
        cause: error,
      });
    }
  }
}

/** @returns number of moved rows; null: another process distributed it */
function distribute(database: Database, { table, placement }: PlannedTable): Promise<number | null> {
  return takingItsTime(database, async (transaction) => {
    await transactionLock(transaction, 'distribute');
    const layout = await readLayout(transaction);
    if (layout?.tables.has(table) === true) return null;
    // Locked, so that the counted rows are the moved ones.
    await transaction.query(sql`LOCK TABLE ${rawSql(table)} IN EXCLUSIVE MODE`);
    const before = await count(transaction, table);
    if (placement.kind === 'reference') await transaction.query(sql`SELECT create_reference_table(${table}::regclass)`);
    else {
      const together = [...(layout?.tables.keys() ?? [])].find((other) => {
        const otherPlacement = TABLE_PLACEMENTS[other];
        return otherPlacement?.kind === 'distributed' && otherPlacement.group === placement.group;
      });
      await transaction.query(
        sql`SELECT create_distributed_table(${table}::regclass, ${placement.column}, colocate_with => ${together ?? 'none'})`,
      );
    }
    const after = await count(transaction, table);
    if (after !== before)
      throw new RangeError(`${before} rows were to be moved, and ${after} came to be there; the move was taken back`);
    return before;
  });
}

/** Disables timeouts that a role or pooler sets for page queries. */
function takingItsTime<T>(database: Database, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return database.transaction(async (transaction) => {
    await transaction.query(sql`SET LOCAL statement_timeout = 0`);
    await transaction.query(sql`SET LOCAL idle_in_transaction_session_timeout = 0`);
    return work(transaction);
  });
}

async function count(transaction: Transaction, table: string): Promise<number> {
  const [counted] = await transaction.query<{ rows: number }>(sql`SELECT count(*) AS rows FROM ${rawSql(table)}`);
  return counted?.rows ?? 0;
}

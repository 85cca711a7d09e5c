import { errorText } from '@chainstead/core';
import type { Database, Transaction } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { transactionLock } from '../transaction-lock.ts';
import type { DistributionPlan, PlannedTable } from './plan-distribution.ts';
import { readLayout } from './read-layout.ts';
import { TABLE_PLACEMENTS } from './table-placements.ts';

export interface DistributionProgress {
  /** Before the work on a table begins. */
  onStart?(table: PlannedTable): void;
  /** @param rows that were moved; null where another process moved them meanwhile, or an earlier run */
  onDone?(table: PlannedTable, rows: number | null): void;
}

/**
 * Distributes each table that waits for it, in a transaction of its own: its rows are on the coordinator or in shards, never in both or
 * neither. They are counted before and after, then the coordinator's copy, which nobody sees any more, is removed from its disk. May be
 * killed at any moment, and run again. Whoever writes to a table waits until it is done, readers go on.
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
      await giveDiskBack(database, planned);
      progress.onDone?.(planned, rows);
    } catch (error) {
      throw new DatabaseError({
        code: 'DISTRIBUTION_FAILED',
        message: `The table ${planned.table} could not be distributed: ${errorText(error)}`,
        facts: { table: planned.table },
        remedy:
          'Nothing of it has changed, and those before it stay distributed: see to the cause, and run "chainstead distribute" again',
        retryable: true,
        cause: error,
      });
    }
  }
}

/** @returns how many rows were moved; null: another process was at it */
function distribute(database: Database, { table, placement }: PlannedTable): Promise<number | null> {
  return takingItsTime(database, async (transaction) => {
    await transactionLock(transaction, 'distribute');
    const layout = await readLayout(transaction);
    if (layout?.tables.has(table) === true) return null;
    // So that what is counted is what is moved.
    await transaction.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
    const before = await count(transaction, table);
    if (placement.kind === 'reference') await transaction.query('SELECT create_reference_table($1::regclass)', [table]);
    else {
      const together = [...(layout?.tables.keys() ?? [])].find((other) => isBeside(other, placement.group));
      await transaction.query('SELECT create_distributed_table($1::regclass, $2, colocate_with => $3)', [
        table,
        placement.column,
        together ?? 'none',
      ]);
    }
    const after = await count(transaction, table);
    if (after !== before)
      throw new RangeError(`${before} rows were to be moved, and ${after} came to be there; the move was taken back`);
    return before;
  });
}

/** Of what the coordinator had itself, and nobody sees any more. */
function giveDiskBack(database: Database, { table }: PlannedTable): Promise<unknown> {
  return takingItsTime(database, (transaction) =>
    transaction.query('SELECT truncate_local_data_after_distributing_table($1::regclass)', [table]),
  );
}

/** What a role or a pooler sets for queries of pages is not meant for this. */
function takingItsTime<T>(database: Database, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return database.transaction(async (transaction) => {
    await transaction.query('SET LOCAL statement_timeout = 0');
    await transaction.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    return work(transaction);
  });
}

function isBeside(table: string, group: string): boolean {
  const placement = TABLE_PLACEMENTS[table];
  return placement?.kind === 'distributed' && placement.group === group;
}

async function count(transaction: Transaction, table: string): Promise<number> {
  const [counted] = await transaction.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`);
  return counted?.rows ?? 0;
}

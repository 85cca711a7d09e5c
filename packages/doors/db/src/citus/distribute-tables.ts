import { errorText } from '@chainstead/core';
import type { Database, Transaction } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { withPatientSession } from '../locks/table-locks.ts';
import { rawSql, sql } from '../sql.ts';
import { transactionLock } from './commit-lock.ts';
import type { DistributionPlan, PlannedTable } from './plan-distribution.ts';
import { readLayout } from './read-layout.ts';
import { TABLE_PLACEMENTS } from './table-placements.ts';

export interface DistributionProgress {
  onStart?(table: PlannedTable): void;
  /** @param rows moved; null: another process or an earlier run moved them */
  onDone?(table: PlannedTable, rows: number | null): void;
}

const GIVE_UP_AFTER_MS = 600_000;

/** One transaction per table; may be killed and run again. Writers wait. @throws {DatabaseError} */
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
      await withPatientSession(
        database,
        { tables: planned.table, giveUpAfterMs: GIVE_UP_AFTER_MS },
        // Readers of the table hold it up.
        (run) => run(sql`SELECT truncate_local_data_after_distributing_table(${planned.table}::regclass)`),
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

/** @returns moved rows; null: another process distributed it */
function distribute(database: Database, { table, placement }: PlannedTable): Promise<number | null> {
  return takingItsTime(database, async (transaction) => {
    await transactionLock(transaction, 'distribute');
    const layout = await readLayout(transaction);
    if (layout?.tables.has(table) === true) return null;
    // Locked: the counted rows are the moved ones.
    await transaction.query(sql`LOCK TABLE ${rawSql(table)} IN EXCLUSIVE MODE`);
    const before = await count(transaction, table);
    if (placement.kind === 'reference')
      await transaction.query(sql`SELECT create_reference_table(${table}::regclass)`);
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
      throw new RangeError(
        `${before} rows were to be moved, and ${after} came to be there; the move was taken back`,
      );
    return before;
  });
}

/** A role's or pooler's timeouts must not end it. */
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

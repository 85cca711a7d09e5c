/**
 * Tables of removed contracts, until they are dropped. Dropping waits for readers, so it follows the
 * removal, without the commit lock, and the running program finishes what a command left.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, isLockedOut, rawSql, sql, TABLE_LOCK_WAIT_MS, type Transaction } from '@chainstead/db';
import { findDetached } from '@chainstead/sync';
import type { EventTable } from '../tables/event-table.ts';
import { ContractRefusedError } from './contract-definition.ts';

export async function recordRemovedTables(
  transaction: Transaction,
  tables: readonly EventTable[],
): Promise<void> {
  for (const { contract, name, view } of tables)
    await transaction.query(
      sql`INSERT INTO removed_contract_tables (table_name, view_name, contract) VALUES (${name}, ${view}, ${contract})
       ON CONFLICT (table_name) DO NOTHING`,
    );
}

/** For a short transaction of another session. Longer ones are left to the running program. */
const ATTEMPTS = 4;
const PAUSE_MS = 500;

/** @param contract null: of all @returns names of those still held */
export async function dropRemovedTables(
  database: Database,
  contract: string | null,
  attempts = ATTEMPTS,
): Promise<readonly string[]> {
  for (let made = 1; ; made++) {
    const names = await readRemoved(database, contract);
    for (const { name, isHeld } of names) if (!isHeld) await dropTable(database, name);
    const left = names.length === 0 ? [] : await readRemoved(database, contract);
    if (left.length === 0 || made >= attempts) return left.map(({ name }) => name);
    await delay(PAUSE_MS);
  }
}

/** Its rows, or another definition of it, would meet the new ones. @throws ContractRefusedError */
export async function requireNotRemoved(transaction: Transaction, tables: readonly EventTable[]): Promise<void> {
  const [held] = await transaction.query<{ name: string; contract: string }>(
    sql`SELECT table_name AS name, contract FROM removed_contract_tables WHERE table_name = ANY (${tables.map(({ name }) => name)}::text[])`,
  );
  if (held !== undefined)
    throw new ContractRefusedError(
      'CONTRACT_TABLE_HELD',
      `The table ${held.name} of the removed contract ${held.contract} can't be dropped yet, because a session or view reads it`,
      'Try again when transactions of other sessions have ended (pg_stat_activity), or use another name',
    );
}

interface RemovedTable {
  readonly name: string;
  /** A statement that waited for its lock would hold up later readers. */
  readonly isHeld: boolean;
}

function readRemoved(database: Pick<Database, 'query'>, contract: string | null): Promise<RemovedTable[]> {
  return database.query<RemovedTable>(
    sql`SELECT table_name AS name, EXISTS (SELECT FROM pg_locks WHERE granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND (relation = to_regclass(table_name) OR relation IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass(table_name)))) AS "isHeld"
       FROM removed_contract_tables WHERE ${contract}::text IS NULL OR contract = ${contract} ORDER BY table_name`,
  );
}

/** Other processes may drop it too: one of them has the row. */
async function dropTable(database: Database, table: string): Promise<void> {
  const own = sql`removed_contract_tables WHERE table_name = ${table}`;
  try {
    await database.transaction(async (transaction) => {
      // Invariant: DB-SHORT-LOCKS
      await transaction.query(sql`SET LOCAL lock_timeout = ${rawSql(TABLE_LOCK_WAIT_MS)}`);
      const [row] = await transaction.query<{ view: string }>(
        sql`SELECT view_name AS view FROM ${own} FOR UPDATE SKIP LOCKED`,
      );
      if (row === undefined) return;
      // Partitions that an interrupted retention left would keep their names.
      for (const part of await findDetached(transaction, [table]))
        if (!part.isPending) await transaction.query(sql`DROP TABLE ${rawSql(part.name)}`);
      await transaction.query(sql`DROP VIEW IF EXISTS ${rawSql(row.view)}`);
      await transaction.query(sql`DROP TABLE IF EXISTS ${rawSql(table)}`);
      await transaction.query(sql`DELETE FROM ${own}`);
    });
  } catch (error) {
    // Views of an operator may read the table.
    const isUsed = error instanceof Error && 'code' in error && error.code === DEPENDENT_OBJECTS_STILL_EXIST;
    if (!isUsed && !isLockedOut(error)) throw error;
  }
}

const DEPENDENT_OBJECTS_STILL_EXIST = '2BP01';

import type { Transaction } from '../database.ts';
import { sql } from '../sql.ts';
import { IS_CITUS } from './is-spread.ts';

/** Facts read together with a lock. */
export interface HeldLock {
  /** Whether the server has Citus. Read here, so that no other statement is needed. */
  readonly isOnCitus: boolean;
  /** Whether the lock was never taken before: statements pipelined behind the request then did not wait for it. */
  readonly isFirst: boolean;
}

/**
 * Waits for the named lock, and holds it until the transaction ends. It is a row of `transaction_locks`, which only
 * roles with write access can lock: any role that can connect may take advisory or table locks.
 */
export async function transactionLock(transaction: Transaction, name: string): Promise<HeldLock> {
  const held = await lockRow(transaction, name);
  if (held !== undefined) return held;
  await transaction.query(sql`INSERT INTO transaction_locks (name) VALUES (${name}) ON CONFLICT DO NOTHING`);
  const made = await lockRow(transaction, name);
  if (made === undefined) throw new TypeError(`The lock ${name} is not there`);
  return { ...made, isFirst: true };
}

async function lockRow(transaction: Transaction, name: string): Promise<HeldLock | undefined> {
  const [row] = await transaction.query<{ is_on_citus: boolean }>(
    sql`SELECT ${IS_CITUS} AS is_on_citus FROM transaction_locks WHERE name = ${name} FOR UPDATE`,
  );
  return row === undefined ? undefined : { isOnCitus: row.is_on_citus, isFirst: false };
}

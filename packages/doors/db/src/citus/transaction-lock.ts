import type { Transaction } from '../database.ts';
import { sql } from '../sql.ts';
import { IS_CITUS } from './is-spread.ts';

export interface HeldLock {
  /** Read here to save a statement. */
  readonly isOnCitus: boolean;
  /** Never taken before: statements pipelined behind the request did not wait for it. */
  readonly isFirst: boolean;
}

/** Until the transaction ends. A row, because any role may take advisory locks. */
export async function transactionLock(transaction: Transaction, name: string): Promise<HeldLock> {
  const held = await lockRow(transaction, name);
  if (held !== undefined) return held;
  await transaction.query(sql`INSERT INTO transaction_locks (name) VALUES (${name}) ON CONFLICT DO NOTHING`);
  const made = await lockRow(transaction, name);
  if (made === undefined) throw new TypeError(`The lock ${name} is not there`);
  return { ...made, isFirst: true };
}

async function lockRow(transaction: Transaction, name: string): Promise<HeldLock | undefined> {
  const [lock] = await transaction.query<HeldLock>(
    sql`SELECT ${IS_CITUS} AS "isOnCitus", false AS "isFirst" FROM transaction_locks WHERE name = ${name} FOR UPDATE`,
  );
  return lock;
}

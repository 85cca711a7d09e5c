import { IS_CITUS } from './citus/is-spread.ts';
import type { Transaction } from './database.ts';

/** What is known with a lock. */
export interface HeldLock {
  /** Whether the server has Citus: told here, so that on other servers nobody has to ask. */
  readonly isOnCitus: boolean;
  /** Whether nobody has taken it before: what was sent behind the request did not wait for it then. */
  readonly isFirst: boolean;
}

/**
 * Waits for the lock of this name and holds it until the transaction ends. It is a row of `locks`, which only roles that may
 * write can lock: advisory locks, and those of whole tables, can be taken by any role that may connect.
 */
export async function transactionLock(transaction: Transaction, name: string): Promise<HeldLock> {
  const held = await lockRow(transaction, name);
  if (held !== undefined) return held;
  await transaction.query('INSERT INTO locks (name) VALUES ($1) ON CONFLICT DO NOTHING', [name]);
  const made = await lockRow(transaction, name);
  if (made === undefined) throw new TypeError(`The lock ${name} is not there`);
  return { ...made, isFirst: true };
}

async function lockRow(transaction: Transaction, name: string): Promise<HeldLock | undefined> {
  const [row] = await transaction.query<{ is_on_citus: boolean }>(
    `SELECT ${IS_CITUS} AS is_on_citus FROM locks WHERE name = $1 FOR UPDATE`,
    [name],
  );
  return row === undefined ? undefined : { isOnCitus: row.is_on_citus, isFirst: false };
}

import type { Transaction } from './database.ts';

/**
 * Waits for the lock of this name and holds it until the transaction ends. It is a row of `locks`, which only roles that may
 * write can lock: advisory locks, and those of whole tables, can be taken by any role that may connect.
 */
export async function transactionLock(transaction: Transaction, name: string): Promise<void> {
  if (await lockRow(transaction, name)) return;
  await transaction.query('INSERT INTO locks (name) VALUES ($1) ON CONFLICT DO NOTHING', [name]);
  await lockRow(transaction, name);
}

async function lockRow(transaction: Transaction, name: string): Promise<boolean> {
  const rows = await transaction.query('SELECT name FROM locks WHERE name = $1 FOR UPDATE', [name]);
  return rows.length === 1;
}

import type { Transaction } from '../database.ts';
import { isSpread } from './is-spread.ts';
import { requireSettled } from './require-settled.ts';
import { type HeldLock, transactionLock } from './transaction-lock.ts';

/**
 * A {@link transactionLock} for writers that each depend on the rows of the previous one. On a cluster, all nodes have
 * these rows when it returns.
 * @throws {DatabaseUnavailableError} if a node is unavailable or has unresolved transactions
 */
export async function commitLock(transaction: Transaction, name: string): Promise<HeldLock> {
  const held = await transactionLock(transaction, name);
  if (held.isOnCitus && (await isSpread(transaction))) await requireSettled(transaction);
  return held;
}

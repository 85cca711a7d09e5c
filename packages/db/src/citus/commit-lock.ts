import type { Transaction } from '../database.ts';
import { type HeldLock, transactionLock } from '../transaction-lock.ts';
import { isSpread } from './is-spread.ts';
import { requireSettled } from './require-settled.ts';

/**
 * A {@link transactionLock} for those who write rows one after the other, each by what the one before left. On a cluster all nodes have that from
 * then on.
 * @throws {DatabaseUnavailableError} a node is away, or has something in doubt (see {@link requireSettled})
 */
export async function commitLock(transaction: Transaction, name: string): Promise<HeldLock> {
  const held = await transactionLock(transaction, name);
  if (held.isOnCitus && (await isSpread(transaction))) await requireSettled(transaction);
  return held;
}

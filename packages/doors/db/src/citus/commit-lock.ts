import type { Transaction } from '../database.ts';
import { isSpread } from './is-spread.ts';
import { requireSettled } from './require-settled.ts';
import { type HeldLock, transactionLock } from './transaction-lock.ts';

/** On a cluster, all nodes have the previous writer's rows. @throws {DatabaseUnavailableError} */
export async function commitLock(transaction: Transaction, name: string): Promise<HeldLock> {
  const held = await transactionLock(transaction, name);
  if (held.isOnCitus && (await isSpread(transaction))) await requireSettled(transaction);
  return held;
}

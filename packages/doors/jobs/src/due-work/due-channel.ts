import type { Database } from '@chainstead/db';

/** Kind of due work whose rows sync inserts. Defined here, because sync can't import the package that reads them. */
export const TOKEN_FACTS_WORK = 'token-facts';

/** Channel on which `transaction.notify` wakes the workers of a kind. */
export function dueChannel(kind: string, chainId: number): string {
  return `chainstead_due_${kind}_${chainId}`;
}

/** Wakes the workers of a kind after rows were inserted outside of a transaction. */
export async function notifyDue(database: Pick<Database, 'transaction'>, kind: string, chainId: number): Promise<void> {
  await database.transaction(async (transaction) => transaction.notify(dueChannel(kind, chainId)));
}

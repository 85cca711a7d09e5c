import type { Database } from '@chainstead/db';

/** Defined here: sync inserts the rows and can't import the package that reads them. */
export const TOKEN_FACTS_WORK = 'token-facts';

export function dueChannel(kind: string, chainId: number): string {
  return `chainstead_due_${kind}_${chainId}`;
}

/** After rows were inserted outside a transaction. */
export async function notifyDue(
  database: Pick<Database, 'transaction'>,
  kind: string,
  chainId: number,
): Promise<void> {
  await database.transaction(async (transaction) => transaction.notify(dueChannel(kind, chainId)));
}

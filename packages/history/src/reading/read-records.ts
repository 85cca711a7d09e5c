import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import type { LookUps } from '@chainstead/transactions';
import type { ReadTransaction, WantedTransaction } from '../page/get-wallet-history.ts';
import { readStoredRecords } from './read-stored-records.ts';
import { walletTransactionsKind } from './wallet-transactions-reader.ts';

export interface RecordsReading {
  readonly database: ReadDatabase;
  readonly chain: Chain;
  readonly lookUps: LookUps;
  /** Whose request it is. */
  readonly requester: string;
  /** Whether logs themselves are wanted, not only what they say. */
  readonly withLogs: boolean;
}

/**
 * The transactions of a page, in the order asked: those that are stored, with what their logs say, from their rows; all others from a node, together.
 * @throws as {@link LookUps.read}
 */
export async function readRecords(
  reading: RecordsReading,
  wanted: readonly WantedTransaction[],
): Promise<readonly ReadTransaction[]> {
  const known = new Map<string, ReadTransaction>(await readStoredRecords(reading, wanted));
  const missing = wanted.filter(({ hash }) => !known.has(hash));
  if (missing.length > 0)
    for (const record of await readThrough(reading, missing)) known.set(record.hash, { record, said: null });
  return wanted.flatMap(({ hash }) => known.get(hash) ?? []);
}

/** A question names the blocks: what was read of them holds for good. */
async function readThrough({ lookUps, chain, requester }: RecordsReading, wanted: readonly WantedTransaction[]) {
  const items = wanted.map(({ hash, transactionIndex: index, blockHash }) => ({ hash, index, blockHash }));
  const kind = walletTransactionsKind;
  const answer = await lookUps.read({ chain, kind, requester, question: { items }, isLasting: () => true });
  return answer.transactions;
}

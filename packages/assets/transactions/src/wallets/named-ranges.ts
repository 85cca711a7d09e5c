/** Rows of `subject_ranges`, separate for each search. */
import type { Address, BlockRange } from '@chainstead/core';
import { addressBytes, type Database, sql, type Transaction } from '@chainstead/db';
import { recordSubjectRange } from '@chainstead/sync';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import type { Subject } from '@chainstead/sync/datasets';
import { accountTransactions } from '../stored/datasets.ts';

/** `named`: all blocks of the index were read. `doubted`: counts or balances show it incomplete. */
export type IndexMark = 'named' | 'doubted';

export async function readMarked(
  database: Pick<Database, 'query'>,
  { chainId, address }: { readonly chainId: number; readonly address: Address },
  mark: IndexMark,
): Promise<readonly BlockRange[]> {
  return database.query<{ from: number; to: number }>(
    sql`SELECT first_block AS from, last_block AS to FROM subject_ranges
      WHERE chain_id = ${chainId} AND kind = ANY (${[`sender-${mark}`, `receiver-${mark}`]}::text[]) AND subject = ${addressBytes(address)} AND dataset = ${accountTransactions.name}`,
  );
}

export async function recordMarked(
  transaction: Transaction,
  { chainId, kind, address }: Subject,
  mark: IndexMark,
  ranges: readonly BlockRange[],
): Promise<void> {
  const subject = { chainId, kind: `${kind}-${mark}`, address } as const;
  for (const range of ranges) await recordSubjectRange(transaction, subject, accountTransactions.name, range);
}

export async function recordWhole(
  transaction: Transaction,
  { chainId, address }: Subject,
  ranges: readonly BlockRange[],
): Promise<void> {
  // The follower writes under this lock.
  await lockChainCommits(transaction, { id: chainId });
  for (const range of ranges)
    await recordSubjectRange(transaction, { chainId, kind: 'wallet', address }, accountTransactions.name, range);
}

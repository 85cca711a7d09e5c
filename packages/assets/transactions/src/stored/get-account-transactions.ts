import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, readPackedPage } from '@chainstead/db/packed-rows';
import {
  areTablesSpread,
  InconsistentPageError,
  type Indexed,
  type IndexedColumns,
  type PageBlock,
  readBlocks,
  readConsistentPage,
  readIndexed,
} from '@chainstead/pages';
import { type AccountTransactionsQuery, accountTransactionsStatement } from './account-transactions-statement.ts';
import { readStored, STORED_COLUMNS, type StoredColumns, type StoredTransaction } from './stored-transaction.ts';

export interface AccountTransactionsPage {
  readonly transactions: readonly StoredTransaction[];
  readonly hasNext: boolean;
  readonly indexed: Indexed;
  readonly newestBlock: number | null;
  blockOf(transaction: StoredTransaction): PageBlock;
}

/** @throws {InconsistentPageError} if a transaction or block is repeatedly missing */
export async function getAccountTransactions(
  database: ReadDatabase,
  chain: Chain,
  query: AccountTransactionsQuery,
): Promise<AccountTransactionsPage> {
  const isSpread = await areTablesSpread(database);
  return readConsistentPage(async () => {
    const { rows, page } = await readPackedPage<
      StoredColumns,
      IndexedColumns &
        PackedTexts & {
          readonly newest: number | null;
          readonly blocks: string | null;
          readonly missing: number | null;
        }
    >(database, STORED_COLUMNS, (select) => accountTransactionsStatement(chain, query, { select, isSpread }));
    if (page.missing !== null) throw new InconsistentPageError(page.missing);
    const blockOf = readBlocks(page.blocks, rows);
    const direction = query.order === 'DESC' ? -1 : 1;
    const ordered = rows.toSorted(
      (left, right) =>
        direction * (left.block_number - right.block_number || left.transaction_index - right.transaction_index),
    );
    return {
      transactions: ordered.slice(0, query.limit).map(readStored),
      hasNext: ordered.length > query.limit,
      indexed: readIndexed(page),
      newestBlock: page.newest,
      blockOf: ({ blockNumber }) => blockOf({ block_number: blockNumber }),
    };
  });
}

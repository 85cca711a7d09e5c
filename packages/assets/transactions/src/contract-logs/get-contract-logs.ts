import type { Chain } from '@chainstead/chains';
import type { Hash, Hex } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import {
  type Indexed,
  type IndexedColumns,
  type PageBlock,
  readBlocks,
  readConsistentPage,
  readIndexed,
} from '@chainstead/pages';
import { CONTRACT_LOGS, type ContractLogsQuery, contractLogsStatement } from './contract-logs-statement.ts';

export interface ContractLog {
  readonly block: PageBlock;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly transactionHash: Hash;
  readonly topics: readonly Hash[];
  readonly data: Hex;
}

export interface ContractLogsPage {
  readonly logs: readonly ContractLog[];
  readonly hasNext: boolean;
  /** The chain's coverage, and the contract's backfill. */
  readonly indexed: Indexed;
  /** Upper bound of the cursor. Null in an empty database. */
  readonly newestBlock: number | null;
}

/** @throws {InconsistentPageError} if a log repeatedly lacks its block */
export async function getContractLogs(
  database: ReadDatabase,
  chain: Chain,
  query: ContractLogsQuery,
): Promise<ContractLogsPage> {
  return readConsistentPage(async () => {
    const { rows, page } = await readPackedPage<
      RowOf<typeof CONTRACT_LOGS>,
      IndexedColumns & PackedTexts & { readonly newest: number | null; readonly blocks: string | null }
    >(database, CONTRACT_LOGS, (select) => contractLogsStatement(chain, query, select));
    const blockOf = readBlocks(page.blocks, rows);
    return {
      logs: rows.slice(0, query.limit).map((row) => ({
        block: blockOf(row),
        transactionIndex: row.transaction_index,
        logIndex: row.log_index,
        transactionHash: row.transaction_hash,
        topics: [row.topic0, row.topic1, row.topic2, row.topic3].flatMap((topic) => topic ?? []),
        data: `0x${row.data}` as const,
      })),
      hasNext: rows.length > query.limit,
      indexed: readIndexed(page),
      newestBlock: page.newest,
    };
  });
}

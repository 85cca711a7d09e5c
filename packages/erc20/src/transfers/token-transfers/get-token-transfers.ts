import { type Indexed, type IndexedColumns, readIndexed, readUntorn } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { type BesideColumns, type BesideTransfers, readBeside } from '../page/beside-transfers.ts';
import { TOKEN_TRANSFERS, type TokenTransfersQuery, tokenTransfersStatement } from './token-transfers-statement.ts';

/** One transfer of a token's page. Addresses and hashes are lower-case hexadecimal text. */
export type TokenTransferRow = RowOf<typeof TOKEN_TRANSFERS>;

export interface TokenTransfersPage extends BesideTransfers {
  /** At most `query.limit`. */
  readonly transfers: readonly TokenTransferRow[];
  /** Whether another row follows. */
  readonly hasNext: boolean;
  /** Of the token: by the chain's own coverage, and by what was read of its history alone. */
  readonly indexed: Indexed;
  /** The newest block that the answer could contain: what a cursor pins as its upper bound. Null in an empty database. */
  readonly newestBlock: number | null;
}

/**
 * A page of a token's transfers with everything that is shown beside them, in one statement.
 * @throws {TornPageError} when a transfer comes without its block again and again
 */
export async function getTokenTransfers(
  database: ReadDatabase,
  chain: Chain,
  query: TokenTransfersQuery,
): Promise<TokenTransfersPage> {
  return readUntorn(async () => {
    const { rows, page } = await readPackedPage<TokenTransferRow, PageRow>(database, TOKEN_TRANSFERS, (select) =>
      tokenTransfersStatement(chain, query, select),
    );
    return {
      ...readBeside(page, rows),
      transfers: rows.slice(0, query.limit),
      hasNext: rows.length > query.limit,
      indexed: readIndexed(page),
      newestBlock: page.newest,
    };
  });
}

/** The only row of the statement. */
interface PageRow extends IndexedColumns, PackedTexts, BesideColumns {
  readonly newest: number | null;
}

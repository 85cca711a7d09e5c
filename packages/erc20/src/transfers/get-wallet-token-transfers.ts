import type { Chain } from '@chainstead/chains';
import { type Indexed, type IndexedColumns, readConsistentPage, readIndexed } from '@chainstead/data-api';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { type RelatedColumns, type RelatedToTransfers, readRelated } from './page/related-to-transfers.ts';
import {
  type NftRows,
  TRANSFERS,
  type WalletTransfersQuery,
  walletTransfersStatement,
} from './wallet-transfers-statement.ts';

export type { TransferKey } from './page/transfer-place.ts';
export type { WalletTransfersQuery } from './wallet-transfers-statement.ts';

/** One transfer of a wallet's page. Addresses and hashes are lower-case hexadecimal text. */
export type TransferRow = RowOf<typeof TRANSFERS>;

export interface WalletTransfersPage extends RelatedToTransfers {
  /** At most `query.limit`. */
  readonly transfers: readonly TransferRow[];
  /** Whether another row follows. */
  readonly hasNext: boolean;
  readonly indexed: Indexed;
  /**
   * The newest block that the response could contain; a cursor pins it as its upper bound. Null in an empty database.
   */
  readonly newestBlock: number | null;
  /** Number of rows of the whole run, if requested and at most {@link COUNT_MAX}; otherwise null. */
  readonly count: number | null;
}

/** Exact totals are counted up to here. */
export const COUNT_MAX = 10_000;

/**
 * Returns a page of a wallet's ERC-20 transfers with all related data.
 * @throws {InconsistentPageError} if a transfer repeatedly lacks its block
 */
export async function getWalletTokenTransfers(
  database: ReadDatabase,
  chain: Chain,
  query: WalletTransfersQuery,
): Promise<WalletTransfersPage> {
  const read = (nfts: NftRows) =>
    readPackedPage<TransferRow, PageRow>(database, TRANSFERS, (select) =>
      walletTransfersStatement(chain, query, { countMax: COUNT_MAX, nfts, select }),
    );
  return readConsistentPage(async () => {
    const found = await read('shown');
    const hasNfts = found.page.tokens?.some(([, , , , , , , isNft]) => isNft === true) === true;
    return pageOf(query, hasNfts ? await read('left out') : found);
  });
}

/** The only row of the statement. */
interface PageRow extends IndexedColumns, PackedTexts, RelatedColumns {
  readonly newest: number | null;
  readonly total: number | null;
}

function pageOf(
  query: WalletTransfersQuery,
  { rows: transfers, page: row }: { readonly rows: readonly TransferRow[]; readonly page: PageRow },
): WalletTransfersPage {
  return {
    ...readRelated(row, transfers),
    transfers: transfers.slice(0, query.limit),
    hasNext: transfers.length > query.limit,
    indexed: readIndexed(row),
    newestBlock: row.newest,
    count: row.total !== null && row.total <= COUNT_MAX ? row.total : null,
  };
}

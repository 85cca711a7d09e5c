import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { type IndexedColumns, readConsistentPage, readIndexed } from '@chainstead/pages';
import { type RelatedColumns, readRelated } from './page/related-to-transfers.ts';
import {
  type NftRows,
  TRANSFERS,
  type WalletTransfersQuery,
  walletTransfersStatement,
} from './wallet-transfers-statement.ts';

export type { TransferKey } from './page/transfer-place.ts';
export type { WalletTransfersQuery } from './wallet-transfers-statement.ts';

type PageColumns = IndexedColumns &
  PackedTexts &
  RelatedColumns & { readonly newest: number | null; readonly total: number | null };

export type WalletTransfersPage = Awaited<ReturnType<typeof getWalletTokenTransfers>>;

/** Exact totals are counted up to here. */
export const COUNT_MAX = 10_000;

/**
 * `count`: rows of the whole run, if requested, up to {@link COUNT_MAX}.
 * @throws {InconsistentPageError} if a transfer repeatedly lacks its block
 */
export async function getWalletTokenTransfers(database: ReadDatabase, chain: Chain, query: WalletTransfersQuery) {
  const read = (nfts: NftRows) =>
    readPackedPage<RowOf<typeof TRANSFERS>, PageColumns>(database, TRANSFERS, (select) =>
      walletTransfersStatement(chain, query, { countMax: COUNT_MAX, nfts, select }),
    );
  return readConsistentPage(async () => {
    const withNfts = await read('shown');
    const hasNfts = withNfts.page.tokens?.some(([, , , , , , , isNft]) => isNft === true) === true;
    const { rows, page } = hasNfts ? await read('left out') : withNfts;
    return {
      ...readRelated(page, rows),
      transfers: rows.slice(0, query.limit),
      hasNext: rows.length > query.limit,
      indexed: readIndexed(page),
      newestBlock: page.newest,
      count: page.total !== null && page.total <= COUNT_MAX ? page.total : null,
    };
  });
}

import { type Indexed, type IndexedColumns, readIndexed, readUntorn } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { type BesideColumns, type BesideTransfers, readBeside } from './page/beside-transfers.ts';
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

export interface WalletTransfersPage extends BesideTransfers {
  /** At most `query.limit`. */
  readonly transfers: readonly TransferRow[];
  /** Whether another row follows. */
  readonly hasNext: boolean;
  readonly indexed: Indexed;
  /** The newest block that the answer could contain: what a cursor pins as its upper bound. Null in an empty database. */
  readonly newestBlock: number | null;
  /** Rows of the whole answer, when asked for and no more than {@link COUNT_MAX}; else null. */
  readonly count: number | null;
}

/** An exact total is counted up to here. */
export const COUNT_MAX = 10_000;

/**
 * A page of a wallet's ERC-20 transfers with everything that is shown beside them.
 * @throws {TornPageError} when a transfer comes without its block again and again
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
  return readUntorn(async () => {
    const found = await read('shown');
    const hasNfts = found.page.tokens?.some(([, , , , , , , isNft]) => isNft === true) === true;
    return pageOf(query, hasNfts ? await read('left out') : found);
  });
}

/** The only row of the statement. */
interface PageRow extends IndexedColumns, PackedTexts, BesideColumns {
  readonly newest: number | null;
  readonly total: number | null;
}

function pageOf(
  query: WalletTransfersQuery,
  { rows: transfers, page: row }: { readonly rows: readonly TransferRow[]; readonly page: PageRow },
): WalletTransfersPage {
  return {
    ...readBeside(row, transfers),
    transfers: transfers.slice(0, query.limit),
    hasNext: transfers.length > query.limit,
    indexed: readIndexed(row),
    newestBlock: row.newest,
    count: row.total !== null && row.total <= COUNT_MAX ? row.total : null,
  };
}

import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { InconsistentPageError, type IndexedColumns, readConsistentPage, readIndexed } from '@chainstead/pages';
import { BLOCKS, type NftTradesQuery, type NftTradesReading, TRADES, tradesStatement } from './trades-statement.ts';

export type ShownTrade = RowOf<typeof TRADES> & {
  readonly block_hash: Hash;
  /** Null if none are known or requested. */
  readonly metadata: readonly TradedDocument[] | null;
};

export interface TradedDocument {
  readonly token_id: string;
  readonly document: string;
}

/** @throws {InconsistentPageError} if a trade repeatedly comes without its block */
export async function getTrades(
  database: ReadDatabase,
  chain: Chain,
  query: NftTradesQuery,
  reading: Omit<NftTradesReading, 'select'> = {},
) {
  return readConsistentPage(async () => {
    const { rows, page } = await readPackedPage<RowOf<typeof TRADES>, TradesPageColumns>(database, TRADES, (select) =>
      tradesStatement(chain, query, { ...reading, select }),
    );
    const blocks = BLOCKS.read({ packed_bytes: page.blocks, packed_texts: null, packed_json: null }) ?? [];
    const hashes = new Map(blocks.map(({ block_number, block_hash }) => [block_number, block_hash]));
    const trades = rows.map((row, index): ShownTrade => {
      const hash = hashes.get(row.block_number);
      if (hash === undefined) throw new InconsistentPageError(row.block_number);
      return { ...row, block_hash: hash, metadata: page.metadata?.[index] ?? null };
    });
    const hasNext = trades.length > query.limit;
    return { trades: trades.slice(0, query.limit), hasNext, indexed: readIndexed(page) };
  });
}

interface TradesPageColumns extends IndexedColumns, PackedTexts {
  readonly blocks: string | null;
  readonly metadata: readonly (readonly TradedDocument[] | null)[] | null;
}

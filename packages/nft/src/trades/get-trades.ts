import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import {
  InconsistentPageError,
  type Indexed,
  type IndexedColumns,
  readConsistentPage,
  readIndexed,
} from '@chainstead/data-api';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { BLOCKS, TRADES, type TradesQuery, type TradesReading, tradesStatement } from './trades-statement.ts';

/** One trade of a page. Addresses and hashes are lower-case hexadecimal text, amounts decimal digits. */
export interface TradeRow extends RowOf<typeof TRADES> {
  readonly block_hash: Hash;
  /** Documents of its tokens; null if none are known or requested. */
  readonly metadata: readonly TokenDocument[] | null;
}

/** The document of a token's URI, as text. */
export interface TokenDocument {
  readonly token_id: string;
  readonly document: string;
}

export interface TradesPage {
  /** At most `query.limit`, newest first. */
  readonly trades: readonly TradeRow[];
  readonly hasNext: boolean;
  readonly indexed: Indexed;
}

/**
 * Returns a page of trades with all related data, in one statement.
 * @throws {InconsistentPageError} if a trade repeatedly comes without its block
 */
export async function getTrades(
  database: ReadDatabase,
  chain: Chain,
  query: TradesQuery,
  reading: Omit<TradesReading, 'select'> = {},
): Promise<TradesPage> {
  return readConsistentPage(async () => {
    const read = await readPackedPage<RowOf<typeof TRADES>, PageRow>(database, TRADES, (select) =>
      tradesStatement(chain, query, { ...reading, select }),
    );
    return pageOf(query, read);
  });
}

function pageOf(
  query: TradesQuery,
  { rows, page }: { readonly rows: readonly RowOf<typeof TRADES>[]; readonly page: PageRow },
): TradesPage {
  const blocks = BLOCKS.read({ packed_bytes: page.blocks, packed_texts: null, packed_json: null }) ?? [];
  const hashes = new Map(blocks.map(({ block_number, block_hash }) => [block_number, block_hash]));
  const trades = rows.map((row, index): TradeRow => {
    const hash = hashes.get(row.block_number);
    if (hash === undefined) throw new InconsistentPageError(row.block_number);
    return { ...row, block_hash: hash, metadata: page.metadata?.[index] ?? null };
  });
  return {
    trades: trades.slice(0, query.limit),
    hasNext: trades.length > query.limit,
    indexed: readIndexed(page),
  };
}

/** The only row of the statement. */
interface PageRow extends IndexedColumns, PackedTexts {
  /** Packed {@link BLOCKS}. */
  readonly blocks: string | null;
  /** One entry per trade. */
  readonly metadata: readonly (readonly TokenDocument[] | null)[] | null;
}

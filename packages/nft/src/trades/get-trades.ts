import { type Indexed, type IndexedColumns, readIndexed, readUntorn, TornPageError } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { BLOCKS, TRADES, type TradesQuery, type TradesReading, tradesStatement } from './trades-statement.ts';

/** One trade of a page. Addresses and hashes are lower-case hexadecimal text, amounts decimal digits. */
export interface TradeRow extends RowOf<typeof TRADES> {
  readonly block_hash: Hash;
  /** Documents of its tokens; null when none is known or none was asked for. */
  readonly metadata: readonly TokenDocument[] | null;
}

/** What a token's URI gave, as text. */
export interface TokenDocument {
  readonly token_id: string;
  readonly document: string;
}

export interface TradesPage {
  /** At most `query.limit`, newest first. */
  readonly trades: readonly TradeRow[];
  /** Whether another row follows. */
  readonly hasNext: boolean;
  readonly indexed: Indexed;
}

/**
 * A page of trades with everything that is shown beside them, in one statement.
 * @throws {TornPageError} when a trade comes without its block again and again
 */
export async function getTrades(
  database: ReadDatabase,
  chain: Chain,
  query: TradesQuery,
  reading: Omit<TradesReading, 'select'> = {},
): Promise<TradesPage> {
  return readUntorn(async () => {
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
    if (hash === undefined) throw new TornPageError(row.block_number);
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
  /** Of each trade. */
  readonly metadata: readonly (readonly TokenDocument[] | null)[] | null;
}

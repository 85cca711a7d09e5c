import { type Indexed, type IndexedColumns, readIndexed } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Database } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { TRADES, type TradesQuery, tradesStatement } from './trades-statement.ts';

/** One trade of a page. Addresses and hashes are lower-case hexadecimal text, amounts decimal digits. */
export interface TradeRow extends RowOf<typeof TRADES> {
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

/** A page of trades with everything that is shown beside them, in one statement. */
export async function getTrades(database: Database, chain: Chain, query: TradesQuery): Promise<TradesPage> {
  const { rows, page } = await readPackedPage<RowOf<typeof TRADES>, PageRow>(database, TRADES, (select) =>
    tradesStatement(chain, query, select),
  );
  const trades = rows.map((row, index) => ({ ...row, metadata: page.metadata?.[index] ?? null }));
  return {
    trades: trades.slice(0, query.limit),
    hasNext: trades.length > query.limit,
    indexed: readIndexed(page),
  };
}

/** The only row of the statement. */
interface PageRow extends IndexedColumns, PackedTexts {
  /** Of each trade. */
  readonly metadata: readonly (readonly TokenDocument[] | null)[] | null;
}

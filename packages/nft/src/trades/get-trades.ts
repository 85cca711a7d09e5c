import { type Indexed, type IndexedColumns, readIndexed } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type TradesQuery, tradesStatement } from './trades-statement.ts';

/** One trade as the database gives it for a page. Addresses and hashes are lower-case hexadecimal text, amounts decimal digits. */
export interface TradeRow {
  readonly block_number: number;
  readonly transaction_index: number;
  readonly log_index: number;
  readonly item: number;
  readonly token_address: Address;
  /** All ids of this collection in the trade, repeated where the event repeats them. */
  readonly token_ids: string[];
  readonly seller: Address;
  readonly buyer: Address;
  readonly marketplace_address: Address;
  /** Null: the chain's native currency. */
  readonly payment_token: Address | null;
  /** Of the whole order, in base units. */
  readonly price: string;
  readonly transaction_hash: string;
  readonly block_hash: string;
  /** For `showMoment`. */
  readonly block_timestamp: string;
  readonly verified: boolean;
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
  const statement = tradesStatement(chain, query);
  const rows = await database.query<PageRow>(statement.text, statement.values);
  const first = rows.find(({ complete }) => complete !== null);
  const trades = rows.filter((row): row is IndexedColumns & TradeRow => row.block_number !== null);
  return {
    trades: trades.slice(0, query.limit),
    hasNext: trades.length > query.limit,
    indexed: readIndexed(first),
  };
}

/** The statement gives one row without a trade where the page is empty. What is common to all rows is in the first alone. */
type PageRow = IndexedColumns & (TradeRow | { block_number: null });

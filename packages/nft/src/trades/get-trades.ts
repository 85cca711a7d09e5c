import { type Indexed, type IndexedColumns, readIndexed, unpack } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type TradesQuery, tradesStatement } from './trades-statement.ts';

/** One trade of a page. Addresses and hashes are lower-case hexadecimal text, amounts decimal digits. */
export interface TradeRow extends LooseColumns {
  readonly block_number: number;
  readonly transaction_index: number;
  readonly log_index: number;
  readonly item: number;
  readonly token_address: Address;
  readonly seller: Address;
  readonly buyer: Address;
  readonly marketplace_address: Address;
  /** Of the whole order, in base units. */
  readonly price: string;
  readonly transaction_hash: string;
  readonly block_hash: string;
  /** For `showMoment`. */
  readonly block_timestamp: string;
}

/** What of a trade may be null, or is a list. */
interface LooseColumns {
  /** All ids of this collection in the trade, repeated where the event repeats them. */
  readonly token_ids: string[];
  /** Null: the chain's native currency. */
  readonly payment_token: Address | null;
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
  const trades = rows.flatMap((row) => (row.packed === null ? [] : [tradeOf(row, row.packed)]));
  return {
    trades: trades.slice(0, query.limit),
    hasNext: trades.length > query.limit,
    indexed: readIndexed(first),
  };
}

/** The statement gives one row without a trade where the page is empty. What is common to all rows is in the first alone. */
interface PageRow extends IndexedColumns, LooseColumns {
  readonly packed: string | null;
}

function tradeOf(row: LooseColumns, text: string): TradeRow {
  const [
    block,
    transaction,
    log,
    item,
    price = '',
    timestamp = '',
    token,
    marketplace,
    seller,
    buyer,
    hash = '',
    blockHash = '',
  ] = unpack(text);
  return {
    block_number: Number(block),
    transaction_index: Number(transaction),
    log_index: Number(log),
    item: Number(item),
    token_address: token as Address,
    token_ids: row.token_ids,
    seller: seller as Address,
    buyer: buyer as Address,
    marketplace_address: marketplace as Address,
    payment_token: row.payment_token,
    price,
    transaction_hash: hash,
    block_hash: blockHash,
    block_timestamp: timestamp,
    verified: row.verified,
    metadata: row.metadata,
  };
}

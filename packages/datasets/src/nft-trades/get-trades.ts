import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type Indexed, type IndexedColumns, readIndexed } from '../indexed-blocks/indexed.ts';
import { type TradesQuery, tradesStatement } from './trades-statement.ts';

/** One trade as a page shows it. Addresses and hashes are lower-case hexadecimal text, amounts decimal digits. */
export interface Trade {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly item: number;
  readonly tokenAddress: Address;
  /** All ids of this collection in the trade, repeated where the event repeats them. */
  readonly tokenIds: readonly string[];
  readonly seller: Address;
  readonly buyer: Address;
  readonly marketplaceAddress: Address;
  /** Null: the chain's coin. */
  readonly paymentToken: Address | null;
  /** Of the whole order, in base units. */
  readonly price: string;
  readonly transactionHash: string;
  readonly blockHash: string;
  readonly blockTimestamp: Date;
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
  readonly trades: readonly Trade[];
  /** Whether another row follows. */
  readonly hasNext: boolean;
  readonly indexed: Indexed;
}

/** A page of trades with everything that is shown beside them, in one statement. */
export async function getTrades(database: Database, chain: Chain, query: TradesQuery): Promise<TradesPage> {
  const statement = tradesStatement(chain, query);
  const rows = await database.query<PageRow>(statement.text, statement.values);
  const [first] = rows;
  const trades = rows.filter((row): row is IndexedColumns & TradeColumns => row.block_number !== null);
  return {
    trades: trades.slice(0, query.limit).map(toTrade),
    hasNext: trades.length > query.limit,
    indexed: readIndexed(first),
  };
}

/** The statement gives one row without a trade where the page is empty. */
type PageRow = IndexedColumns & (TradeColumns | { block_number: null });

interface TradeColumns {
  block_number: number;
  transaction_index: number;
  log_index: number;
  item: number;
  token_ids: string[];
  price: string;
  block_timestamp: Date;
  token_address: Address;
  marketplace_address: Address;
  seller: Address;
  buyer: Address;
  payment_token: Address | null;
  transaction_hash: string;
  block_hash: string;
  verified: boolean;
  metadata: TokenDocument[] | null;
}

function toTrade(row: TradeColumns): Trade {
  return {
    blockNumber: row.block_number,
    transactionIndex: row.transaction_index,
    logIndex: row.log_index,
    item: row.item,
    tokenAddress: row.token_address,
    tokenIds: row.token_ids,
    seller: row.seller,
    buyer: row.buyer,
    marketplaceAddress: row.marketplace_address,
    paymentToken: row.payment_token,
    price: row.price,
    transactionHash: row.transaction_hash,
    blockHash: row.block_hash,
    blockTimestamp: row.block_timestamp,
    verified: row.verified,
    metadata: row.metadata,
  };
}

import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { boundsInSqlOld, type PageBounds, scanBoundsOld } from '@chainstead/data-api';
import {
  addressBytes,
  type Bind,
  expectedTrueOld,
  rowsAfterInPartitionsOld,
  type Statement,
  whereOld,
} from '@chainstead/db';
import {
  boolean,
  digits,
  digitsList,
  hex,
  hexOrNull,
  int4,
  int8,
  moment,
  packedRows,
} from '@chainstead/db/packed-rows';
import { tokenIdsOf } from './sale.ts';
import { bindAddress, ofCollection, ofToken, ofWallet } from './trade-conditions.ts';
import { BY_BIDS, type Priced, pricedBefore } from './trade-price-statement.ts';

/** The subject of the trades. For a bundle over several collections, a wallet sees each collection's part. */
export type TradesSubject =
  | { readonly kind: 'token'; readonly token: Address; readonly tokenId: string }
  /** `marketplace` null: all. */
  | { readonly kind: 'collection'; readonly token: Address; readonly marketplace: string | null }
  | { readonly kind: 'wallet'; readonly wallet: Address };

/** The end of a page: the position of its last row, and its collection, as one event may contain several. */
export interface TradeKey {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly item: number;
  readonly token: Address;
}

/** Trades are read newest first. */
export interface TradesQuery extends PageBounds {
  readonly subject: TradesSubject;
  /** Number of rows; one more is read to detect a next page. */
  readonly limit: number;
  /** Rows strictly older than this one; null for the first page. */
  readonly after: TradeKey | null;
  /** Adds the stored metadata of the tokens. */
  readonly metadata: boolean;
}

/** The name of the dataset whose coverage counts. */
const DATASET = 'nft-trades';

/** Documents of at least this length are left out of pages. Bytes. */
const METADATA_BYTES_MAX = 65_536;
/** Maximum number of a trade's tokens with metadata. */
const METADATA_TOKENS_MAX = 20;

export interface TradesReading {
  /** Whether tables are distributed. @default false */
  readonly isSpread?: boolean;
  /** Of {@link TRADES}. */
  readonly select?: string;
}

/**
 * Returns the statement for a page of trades. In each partition, each scan is a range of one index that stops after
 * limit + 1 rows (trades-statement.explain.test.ts). The index is `nft_trades_by_token`, `nft_trades_by_marketplace` or
 * the primary key. For a wallet, `nft_trades_by_seller` and `nft_trades_by_buyer` are merged; a trade with itself is in
 * both and shown once.
 *
 * Partitions are ordered by height, so they are read one after the other, starting with the page's first one. As in
 * wallet-transfers-statement.ts, the planner can't choose to read and sort everything.
 */
export function tradesStatement(
  chain: Chain,
  query: TradesQuery,
  { isSpread = false, select = TRADES.selectOld }: TradesReading = {},
): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = bind(chain.id);
  const { ctes, lower, upper, complete } = boundsInSqlOld(chain, chainId, DATASET, query, bind);
  const after = query.after === null ? null : olderThan(query.after, query.subject, bind);
  const { scan: bounds } = scanBoundsOld('DESC', { lower, upper }, after);
  const { subject } = query;
  const of = subject.kind === 'wallet' ? { wallet: subject.wallet } : { collection: subject.token };
  const priced = isSpread ? pricedBefore(chain, chainId, of, bind) : BY_BIDS;
  const scan = { chainId, bounds, limit: bind(query.limit + 1), priced };
  const page = tradesOf(query.subject, scan, bind);
  // For one contract it is looked up once.
  const contract =
    query.subject.kind === 'wallet' ? 'page.token_address' : `${bind(addressBytes(query.subject.token))}::bytea`;
  // Documents are distributed by contract, trades by its key: on different nodes.
  const documents =
    query.metadata && isSpread ? `, documents AS MATERIALIZED (${documentsOf(query.subject, contract, chainId)})` : '';
  const text = `WITH ${[...ctes, ...priced.ctes].join(', ')}, page AS MATERIALIZED (
  SELECT page.*, ${verified(contract, chainId)} AS verified FROM (${page}) AS page ${whereOld(lower)})${documents}
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, ${blocksOf('SELECT block_number FROM page', chainId)} AS blocks, trades.*
FROM covered CROSS JOIN (
  SELECT ${select}, ${query.metadata ? `json_agg(${metadataOf(chainId, isSpread)})` : 'NULL'} AS metadata FROM page) AS trades`;
  return { text, values };
}

interface Scan {
  readonly chainId: string;
  readonly bounds: readonly string[];
  readonly limit: string;
  readonly priced: Priced;
}

function tradesOf(subject: TradesSubject, scan: Scan, bind: Bind): string {
  if (subject.kind === 'wallet') {
    const wallet = bindAddress(subject.wallet, bind);
    const sides = (['seller', 'buyer'] as const).map(
      (side) => `(${range([...ofWallet(side, wallet), 'leads'], scan, 'WITH TIES')})`,
    );
    return `SELECT DISTINCT ON (${WALLET_PLACE.join(', ')}) * FROM (${sides.join(' UNION ALL ')}) AS trade ${orderBy(WALLET_PLACE)} LIMIT ${scan.limit}`;
  }
  return range([...ofCollection(bindAddress(subject.token, bind)), ...subsetOf(subject, bind)], scan, 'ONLY');
}

/** Conditions that select among a collection's trades. */
function subsetOf(subject: Exclude<TradesSubject, { readonly kind: 'wallet' }>, bind: Bind): readonly string[] {
  if (subject.kind === 'token') return ofToken(`${bind(subject.tokenId)}::numeric`);
  return subject.marketplace === null
    ? [expectedTrueOld('leads')]
    : [`marketplace = ${bind(subject.marketplace)}`, 'leads'];
}

/** The first `limit` rows with a known price; with ties, also those at the last one's position. */
function range(
  conditions: readonly string[],
  { chainId, bounds, limit, priced: { join, price } }: Scan,
  ending: 'ONLY' | 'WITH TIES',
): string {
  const priced = expectedTrueOld(`${price} IS NOT NULL`);
  return `SELECT ${TRADE_COLUMNS}, ${tokenIdsOf('trade')} AS token_ids, ${price} AS shown_price FROM nft_trades AS trade ${join}
    ${whereOld([...conditions, `chain_id = ${chainId}`, ...bounds, priced])}
    ${orderBy(PLACE)} FETCH FIRST (${limit}) ROWS ${ending}`;
}

/**
 * Rows of one collection key have unique positions. A wallet's rows may share one, for several collections of one
 * order: ties handle that.
 */
const PLACE = ['block_number', 'transaction_index', 'log_index', 'item'];
const WALLET_PLACE = [...PLACE, 'token_address'];

const TRADE_COLUMNS = `trade.token_address, trade.block_number, trade.transaction_index, trade.log_index, trade.item,
      trade.marketplace_address, trade.seller, trade.buyer, trade.payment_token, trade.transaction_hash, trade.block_timestamp`;

/** The rows of a page. Addresses and hashes are lower-case hexadecimal text, amounts decimal digits. */
export const TRADES = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  item: int4('item'),
  token_address: hex<Address>('token_address', 20),
  /** All ids of this collection in the trade, with the event's repetitions. */
  token_ids: digitsList('token_ids'),
  seller: hex<Address>('seller', 20),
  buyer: hex<Address>('buyer', 20),
  marketplace_address: hex<Address>('marketplace_address', 20),
  /** Null: the chain's native token. */
  payment_token: hexOrNull<Address>('payment_token', 20),
  /** Price of the whole order, in base units. */
  price: digits('shown_price'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
  block_timestamp: moment('block_timestamp'),
  verified: boolean('verified'),
});

/** The distinct blocks of a page's rows. */
export const BLOCKS = packedRows({
  block_number: int8('block_number'),
  block_hash: hex<Hash>('block_hash', 32),
});

function orderBy(place: readonly string[]): string {
  return `ORDER BY ${place.map((column) => `trade.${column} DESC`).join(', ')}`;
}

/** Only a wallet's trades cover several collections. Next to an equality, the collection would hide the index order. */
function olderThan(key: TradeKey, subject: TradesSubject, bind: Bind): readonly string[] {
  const place = [`${bind(key.blockNumber)}::bigint`, ...[key.transactionIndex, key.logIndex, key.item].map(bind)];
  return subject.kind === 'wallet'
    ? rowsAfterInPartitionsOld('DESC', WALLET_PLACE, [...place, bind(addressBytes(key.token))])
    : rowsAfterInPartitionsOld('DESC', PLACE, place);
}

/** The bytes of {@link BLOCKS}, found in one lookup: row by row they cost several times as much. Null for none. */
function blocksOf(blocks: string, chainId: string): string {
  return `(SELECT packed_bytes FROM (SELECT ${BLOCKS.selectOld} FROM blocks WHERE chain_id = ${chainId} AND block_number = ANY (ARRAY(${blocks}))) AS found)`;
}

/** From an imported collection list; otherwise whether a token list contains the contract. */
function verified(address: string, chainId: string): string {
  return `coalesce(
    (SELECT entry.verified FROM collection_list_entries AS entry WHERE entry.token_address = ${address} AND entry.chain_id = ${chainId}
       AND entry.verified IS NOT NULL ORDER BY entry.source LIMIT 1),
    (SELECT token.verified FROM tokens AS token WHERE token.address = ${address} AND token.chain_id = ${chainId}), false)`;
}

/** Stored documents of the trade's tokens. */
function metadataOf(chainId: string, isSpread: boolean): string {
  const ofTrade = 'token_address = page.token_address AND token_id = ANY (page.token_ids)';
  const known = isSpread ? `documents WHERE ${ofTrade}` : `nft_token_metadata WHERE ${ofTrade} AND ${isShown(chainId)}`;
  return `(SELECT json_agg(json_build_object('token_id', known.token_id::text, 'document', known.metadata)) FROM (
    SELECT token_id, metadata FROM ${known} ORDER BY token_id LIMIT ${METADATA_TOKENS_MAX}) AS known)`;
}

/** All documents of a page's trades: those of one contract are on one node. */
function documentsOf({ kind }: TradesSubject, contract: string, chainId: string): string {
  const place = kind === 'wallet' ? '' : `known.token_address = ${contract} AND `;
  return `SELECT known.token_address, known.token_id, known.metadata FROM nft_token_metadata AS known
    JOIN (SELECT DISTINCT token_address, unnest(token_ids) AS token_id FROM page) AS traded USING (token_address, token_id) WHERE ${place}${isShown(chainId)}`;
}

function isShown(chainId: string): string {
  return `chain_id = ${chainId} AND status = 'known' AND octet_length(metadata) < ${METADATA_BYTES_MAX}`;
}

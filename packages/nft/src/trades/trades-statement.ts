import { boundsInSql, type PageBounds } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { addressBytes, type Bind, expectedTrue, type Statement, where } from '@chainstead/db';
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

/** Whose trades. Of a bundle over several collections, a wallet sees each collection's part. */
export type TradesSubject =
  | { readonly kind: 'token'; readonly token: Address; readonly tokenId: string }
  /** `marketplace` null: all. */
  | { readonly kind: 'collection'; readonly token: Address; readonly marketplace: string | null }
  | { readonly kind: 'wallet'; readonly wallet: Address };

/** Where a page ended: the place of its last row, and its collection, of which one event may name several. */
export interface TradeKey {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly item: number;
  readonly token: Address;
}

/** What to read, newest first. */
export interface TradesQuery extends PageBounds {
  readonly subject: TradesSubject;
  /** Rows wanted; one more is read to see whether a page follows. */
  readonly limit: number;
  /** Rows strictly older than this one; null for the first page. */
  readonly after: TradeKey | null;
  /** Add what is known of the tokens' metadata. */
  readonly metadata: boolean;
}

/** The name of the dataset whose coverage counts. */
const DATASET = 'nft-trades';

/** Documents of this length and above are left out of pages. Bytes. */
const METADATA_BYTES_MAX = 65_536;
/** Tokens of one trade whose metadata is shown. */
const METADATA_TOKENS_MAX = 20;

/** How a page is read. */
export interface TradesReading {
  /** Whether tables are distributed. @default false */
  readonly isSpread?: boolean;
  /** Of {@link TRADES}. */
  readonly select?: string;
}

/**
 * The statement behind a page of trades. Each scan is, in each partition, a range of one index that stops after limit + 1 rows: of
 * `nft_trades_by_token`, `nft_trades_by_marketplace`, the primary key, or for a wallet of `nft_trades_by_seller` and
 * `nft_trades_by_buyer`, merged, where a trade with itself is in both and shown once (trades-statement.explain.test.ts). Partitions
 * lie by height, so that they are read one after the other, and none before the one where a page begins.
 * The planner is kept from reading and sorting everything as in wallet-transfers-statement.ts.
 */
export function tradesStatement(
  chain: Chain,
  query: TradesQuery,
  { isSpread = false, select = TRADES.select }: TradesReading = {},
): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = bind(chain.id);
  const { ctes, lower, upper, complete } = boundsInSql(chain, chainId, DATASET, query, bind);
  // The key implies the upper bounds. Left in, they would be where the scan begins: a btree starts at one bound, not the tighter.
  const start = query.after === null ? upper : olderThan(query.after, query.subject, bind);
  // Of bounds on both sides the planner expects next to no rows, so the scan is given one: what lies beyond the other is last.
  const bounds = start.length === 0 ? lower : start;
  const { subject } = query;
  const of = subject.kind === 'wallet' ? { wallet: subject.wallet } : { collection: subject.token };
  const priced = isSpread ? pricedBefore(chain, chainId, of, bind) : BY_BIDS;
  const scan = { chainId, bounds, limit: bind(query.limit + 1), priced };
  const page = tradesOf(query.subject, scan, bind);
  // Of one contract it is looked up once.
  const contract =
    query.subject.kind === 'wallet' ? 'page.token_address' : `${bind(addressBytes(query.subject.token))}::bytea`;
  // Documents lie by contract, trades by its key: on different nodes.
  const documents =
    query.metadata && isSpread ? `, documents AS MATERIALIZED (${documentsOf(query.subject, contract, chainId)})` : '';
  const text = `WITH ${[...ctes, ...priced.ctes].join(', ')}, page AS MATERIALIZED (
  SELECT page.*, ${verified(contract, chainId)} AS verified FROM (${page}) AS page ${where(lower)})${documents}
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

/** Which of a collection's trades. */
function subsetOf(subject: Exclude<TradesSubject, { readonly kind: 'wallet' }>, bind: Bind): readonly string[] {
  if (subject.kind === 'token') return ofToken(`${bind(subject.tokenId)}::numeric`);
  return subject.marketplace === null
    ? [expectedTrue('leads')]
    : [`marketplace = ${bind(subject.marketplace)}`, 'leads'];
}

/** The first `limit` rows with a known price; with ties, those of the last one's place as well. */
function range(
  conditions: readonly string[],
  { chainId, bounds, limit, priced: { join, price } }: Scan,
  ending: 'ONLY' | 'WITH TIES',
): string {
  const priced = expectedTrue(`${price} IS NOT NULL`);
  return `SELECT ${TRADE_COLUMNS}, ${tokenIdsOf('trade')} AS token_ids, ${price} AS shown_price FROM nft_trades AS trade ${join}
    ${where([...conditions, `chain_id = ${chainId}`, ...bounds, priced])}
    ${orderBy(PLACE)} FETCH FIRST (${limit}) ROWS ${ending}`;
}

/** Rows of one key of a collection have a place each. A wallet's may share one, of several collections of one order: that is what ties are for. */
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
  /** All ids of this collection in the trade, repeated where the event repeats them. */
  token_ids: digitsList('token_ids'),
  seller: hex<Address>('seller', 20),
  buyer: hex<Address>('buyer', 20),
  marketplace_address: hex<Address>('marketplace_address', 20),
  /** Null: the chain's native currency. */
  payment_token: hexOrNull<Address>('payment_token', 20),
  /** Of the whole order, in base units. */
  price: digits('shown_price'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
  block_timestamp: moment('block_timestamp'),
  verified: boolean('verified'),
});

/** The blocks of a page's rows, once each. */
export const BLOCKS = packedRows({
  block_number: int8('block_number'),
  block_hash: hex<Hash>('block_hash', 32),
});

function orderBy(place: readonly string[]): string {
  return `ORDER BY ${place.map((column) => `trade.${column} DESC`).join(', ')}`;
}

/**
 * Only a wallet's trades are of several collections. Beside an equality the collection would hide the index' own order. The block
 * stands alone too: partitions are excluded by it.
 */
function olderThan(key: TradeKey, subject: TradesSubject, bind: Bind): readonly string[] {
  const block = `${bind(key.blockNumber)}::bigint`;
  const place = [block, ...[key.transactionIndex, key.logIndex, key.item].map(bind)];
  const older =
    subject.kind === 'wallet'
      ? `(${WALLET_PLACE.join(', ')}) < (${place.join(', ')}, ${bind(addressBytes(key.token))})`
      : `(${PLACE.join(', ')}) < (${place.join(', ')})`;
  return [older, `block_number <= ${block}`];
}

/** The bytes of {@link BLOCKS}, found in one go: looked up row by row they cost several times as much. Null for none. */
function blocksOf(blocks: string, chainId: string): string {
  return `(SELECT packed_bytes FROM (SELECT ${BLOCKS.select} FROM blocks WHERE chain_id = ${chainId} AND block_number = ANY (ARRAY(${blocks}))) AS found)`;
}

/** What an imported collection list says, else whether a token list names the contract. */
function verified(address: string, chainId: string): string {
  return `coalesce(
    (SELECT entry.verified FROM collection_list_entries AS entry WHERE entry.token_address = ${address} AND entry.chain_id = ${chainId}
       AND entry.verified IS NOT NULL ORDER BY entry.source LIMIT 1),
    (SELECT token.verified FROM tokens AS token WHERE token.address = ${address} AND token.chain_id = ${chainId}), false)`;
}

/** Documents of the trade's tokens, as far as they were read. */
function metadataOf(chainId: string, isSpread: boolean): string {
  const ofTrade = 'token_address = page.token_address AND token_id = ANY (page.token_ids)';
  const known = isSpread ? `documents WHERE ${ofTrade}` : `nft_token_metadata WHERE ${ofTrade} AND ${isShown(chainId)}`;
  return `(SELECT json_agg(json_build_object('token_id', known.token_id::text, 'document', known.metadata)) FROM (
    SELECT token_id, metadata FROM ${known} ORDER BY token_id LIMIT ${METADATA_TOKENS_MAX}) AS known)`;
}

/** All of those that a page's trades show: of one contract they lie on one node. */
function documentsOf({ kind }: TradesSubject, contract: string, chainId: string): string {
  const place = kind === 'wallet' ? '' : `known.token_address = ${contract} AND `;
  return `SELECT known.token_address, known.token_id, known.metadata FROM nft_token_metadata AS known
    JOIN (SELECT DISTINCT token_address, unnest(token_ids) AS token_id FROM page) AS traded USING (token_address, token_id) WHERE ${place}${isShown(chainId)}`;
}

function isShown(chainId: string): string {
  return `chain_id = ${chainId} AND status = 'known' AND octet_length(metadata) < ${METADATA_BYTES_MAX}`;
}

import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import {
  addressBytes,
  expectedTrue,
  joinSql,
  rawSql,
  rowsAfterInPartitions,
  type Sql,
  sql,
  where,
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
  type RowOf,
} from '@chainstead/db/packed-rows';
import {
  type ChainQuery,
  chainPage,
  ITEM_ORDER,
  type ItemPosition,
  pageRange,
  scanRange,
} from '@chainstead/pages';
import { tokenIdsOf } from './sale.ts';
import { ofCollection, ofToken, ofWallet } from './trade-conditions.ts';
import { BY_BIDS, type Priced, pricedBefore } from './trade-price-statement.ts';

/** For a bundle over several collections, a wallet sees each collection's part. */
export type NftTradesSubject =
  | { readonly kind: 'token'; readonly token: Address; readonly tokenId: string }
  | { readonly kind: 'collection'; readonly token: Address; readonly marketplace: string | null }
  | { readonly kind: 'wallet'; readonly wallet: Address };

/** With the collection, as one event may have several. */
interface TradePosition extends ItemPosition {
  readonly token: Address;
}

export interface NftTradesQuery extends ChainQuery<TradePosition> {
  readonly subject: NftTradesSubject;
  readonly order: 'DESC';
  readonly metadata: boolean;
}

export type NftTrade = RowOf<typeof TRADES>;

export interface TradedDocument {
  readonly token_id: string;
  readonly document: string;
}

const DATASET = 'nft-trades';

/** Bytes. Longer documents are left out of pages. */
const METADATA_BYTES_MAX = 65_536;
const METADATA_TOKENS_MAX = 20;

/**
 * Each scan is an index range that stops after limit + 1 rows, by partition
 * (trades-page.explain.test.ts). A wallet's two are merged: a trade with itself is shown once.
 * Partitions are read one after the other, so the planner can't choose to sort everything.
 */
export function tradesPage(chain: Chain, query: NftTradesQuery, isSpread = false) {
  const chainId = sql`${chain.id}`;
  const { subject } = query;
  const range = pageRange(chain, chainId, DATASET, query);
  const { scan: bounds, far } = scanRange('DESC', range, query.after && olderThan(query.after, subject));
  const of = subject.kind === 'wallet' ? { wallet: subject.wallet } : { collection: subject.token };
  const priced = isSpread ? pricedBefore(chain, chainId, of) : BY_BIDS;
  const trades = tradesOf(subject, { chainId, bounds, limit: sql`${query.limit + 1}`, priced });
  const contract =
    subject.kind === 'wallet' ? sql`trade.token_address` : sql`${addressBytes(subject.token)}::bytea`;
  const metadata = query.metadata
    ? sql`(SELECT json_agg(${metadataOf(chainId, isSpread)}) FROM page)`
    : rawSql('NULL');
  return chainPage({
    ...{ chain, query, order: TRADE_ORDER, rows: TRADES, newest: [] },
    range: { ...range, ctes: [...range.ctes, ...priced.ctes], far },
    scan: sql`SELECT trade.*, ${verified(contract, chainId)} AS verified FROM (${trades}) AS trade`,
    // Documents are distributed by contract, trades by its key: on different nodes.
    ctes: query.metadata && isSpread ? [sql`documents AS MATERIALIZED (${documentsOf(subject, chainId)})`] : [],
    related: { documents: { column: metadata, read: readDocuments } },
  });
}

/** By row; null if none are known or requested. */
type DocumentsByRow = readonly (readonly TradedDocument[] | null)[] | null;

function readDocuments(documents: DocumentsByRow): DocumentsByRow {
  return documents;
}

interface Scan {
  readonly chainId: Sql;
  readonly bounds: readonly Sql[];
  readonly limit: Sql;
  readonly priced: Priced;
}

function tradesOf(subject: NftTradesSubject, scan: Scan): Sql {
  if (subject.kind === 'wallet') {
    const sides = (['seller', 'buyer'] as const).map(
      (side) => sql`(${range([...ofWallet(side, subject.wallet), sql`leads`], scan, 'WITH TIES')})`,
    );
    return sql`SELECT DISTINCT ON (${joinSql(WALLET_PLACE.map(rawSql))}) * FROM (${joinSql(sides, ' UNION ALL ')}) AS trade ${orderBy(WALLET_PLACE)} LIMIT ${scan.limit}`;
  }
  return range([...ofCollection(subject.token), ...subsetOf(subject)], scan, 'ONLY');
}

function subsetOf(subject: Exclude<NftTradesSubject, { readonly kind: 'wallet' }>): readonly Sql[] {
  if (subject.kind === 'token') return ofToken(sql`${subject.tokenId}::numeric`);
  return subject.marketplace === null
    ? [expectedTrue(sql`leads`)]
    : [sql`marketplace = ${subject.marketplace}`, sql`leads`];
}

function range(
  conditions: readonly Sql[],
  { chainId, bounds, limit, priced: { join, price } }: Scan,
  ending: 'ONLY' | 'WITH TIES',
): Sql {
  const priced = expectedTrue(sql`${price} IS NOT NULL`);
  return sql`SELECT ${TRADE_COLUMNS}, ${tokenIdsOf('trade')} AS token_ids, ${price} AS shown_price FROM nft_trades AS trade ${join}
    ${where([...conditions, sql`chain_id = ${chainId}`, ...bounds, priced])}
    ${orderBy(PLACE)} FETCH FIRST (${limit}) ROWS ${rawSql(ending)}`;
}

const PLACE = ['block_number', 'transaction_index', 'log_index', 'item'] as const;
const WALLET_PLACE = [...PLACE, 'token_address'] as const;

const TRADE_COLUMNS = sql`trade.token_address, trade.block_number, trade.transaction_index, trade.log_index, trade.item,
      trade.marketplace_address, trade.seller, trade.buyer, trade.payment_token, trade.transaction_hash, trade.block_timestamp`;

/** Addresses and hashes are lower-case hexadecimal text, amounts decimal digits. */
const TRADES = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  item: int4('item'),
  token_address: hex<Address>('token_address', 20),
  token_ids: digitsList('token_ids'),
  seller: hex<Address>('seller', 20),
  buyer: hex<Address>('buyer', 20),
  marketplace_address: hex<Address>('marketplace_address', 20),
  payment_token: hexOrNull<Address>('payment_token', 20),
  price: digits('shown_price'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
  block_timestamp: moment('block_timestamp'),
  verified: boolean('verified'),
});

function orderBy(place: readonly string[]): Sql {
  return rawSql(`ORDER BY ${place.map((column) => `trade.${column} DESC`).join(', ')}`);
}

const TRADE_ORDER = {
  positionOf: (row: NftTrade): TradePosition => ({ ...ITEM_ORDER.positionOf(row), token: row.token_address }),
};

/** Only a wallet has several. Next to an equality, the collection would hide the index order. */
function olderThan(position: TradePosition, { kind }: NftTradesSubject): readonly Sql[] {
  if (kind !== 'wallet') return ITEM_ORDER.after('DESC', position);
  const { block, transaction, log, item, token } = position;
  const values = [sql`${transaction}`, sql`${log}`, sql`${item}`, sql`${addressBytes(token)}`];
  return rowsAfterInPartitions('DESC', WALLET_PLACE, [sql`${block}::bigint`, ...values]);
}

function verified(address: Sql, chainId: Sql): Sql {
  return sql`coalesce(
    (SELECT entry.verified FROM collection_list_entries AS entry WHERE entry.token_address = ${address} AND entry.chain_id = ${chainId}
       AND entry.verified IS NOT NULL ORDER BY entry.source LIMIT 1),
    (SELECT token.verified FROM tokens AS token WHERE token.address = ${address} AND token.chain_id = ${chainId}), false)`;
}

function metadataOf(chainId: Sql, isSpread: boolean): Sql {
  const ofTrade = sql`token_address = page.token_address AND token_id = ANY (page.token_ids)`;
  const known = isSpread
    ? sql`documents WHERE ${ofTrade}`
    : sql`nft_token_metadata WHERE ${ofTrade} AND ${isShown(chainId)}`;
  return sql`(SELECT json_agg(json_build_object('token_id', known.token_id::text, 'document', known.metadata)) FROM (
    SELECT token_id, metadata FROM ${known} ORDER BY token_id LIMIT ${rawSql(METADATA_TOKENS_MAX)}) AS known)`;
}

function documentsOf(subject: NftTradesSubject, chainId: Sql): Sql {
  const place =
    subject.kind === 'wallet'
      ? rawSql('')
      : sql`known.token_address = ${addressBytes(subject.token)}::bytea AND `;
  return sql`SELECT known.token_address, known.token_id, known.metadata FROM nft_token_metadata AS known
    JOIN (SELECT DISTINCT token_address, unnest(token_ids) AS token_id FROM page) AS traded USING (token_address, token_id) WHERE ${place}${isShown(chainId)}`;
}

function isShown(chainId: Sql): Sql {
  return sql`chain_id = ${chainId} AND status = 'known' AND octet_length(metadata) < ${rawSql(METADATA_BYTES_MAX)}`;
}

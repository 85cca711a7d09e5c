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
import { digits, hex, hexOrNull, int4, int8, packedRows, textOrNull } from '@chainstead/db/packed-rows';
import { blocksOf, type CoveredSubject, labelsOf, type PageBounds, pageRange, scanRange } from '@chainstead/pages';
import { collectionFacts } from '../collections/collection-facts-statement.ts';

export type NftTransfersSubject =
  /** Either side; `contracts` null: of all. */
  | { readonly kind: 'wallet'; readonly wallet: Address; readonly contracts: readonly Address[] | null }
  | { readonly kind: 'collection'; readonly token: Address }
  | { readonly kind: 'token'; readonly token: Address; readonly tokenId: string };

export interface NftTransferKey {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly item: number;
}

export interface NftTransfersQuery extends PageBounds {
  readonly subject: NftTransfersSubject;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  readonly after: NftTransferKey | null;
}

export interface NftTransfersReading {
  readonly scanMax?: number;
  readonly select?: Sql;
  /** On distributed tables, each range determines its node. @default false */
  readonly isSpread?: boolean;
}

export const INDEXES_OF: Readonly<Record<NftTransfersSubject['kind'], readonly string[]>> = {
  wallet: ['nft_transfers_by_sender', 'nft_transfers_by_recipient'],
  collection: [],
  token: ['nft_transfers_by_token', 'nft_transfers_by_range'],
};

/** No index has a wallet's transfers by contract. This many take a fraction of a second. */
const SCAN_MAX = 10_000;

/**
 * Each scan is an index range that stops after limit + 1 rows, by partition
 * (nft-transfers-statement.explain.test.ts). A wallet's two are merged; a transfer to oneself is
 * sent. For some contracts they are searched up to `scanMax`; `stop` is where that ended a page.
 * The planner can't choose to sort everything: see ERC-20's wallet-transfers-statement.ts.
 */
export function nftTransfersStatement(
  chain: Chain,
  query: NftTransfersQuery,
  { scanMax = SCAN_MAX, select = NFT_TRANSFERS.select, isSpread = false }: NftTransfersReading = {},
): Sql {
  const chainId = sql`${chain.id}`;
  const { subject, order } = query;
  const about = sql`${addressBytes(subject.kind === 'wallet' ? subject.wallet : subject.token)}::bytea`;
  const kind = subject.kind === 'wallet' ? 'wallet' : 'contract';
  const of: CoveredSubject = { kind, subject: about, chainId, dataset: 'nft-transfers' };
  const { ctes, lower, upper, complete } = pageRange(chain, chainId, of, query, null);
  const after = query.after && rowsAfterInPartitions(order, PLACE, valuesOf(query.after));
  const { scan: ofScan, far } = scanRange(order, { lower, upper }, after);
  const bounds = [sql`chain_id = ${chainId}`, ...ofScan];
  const limit = sql`${query.limit + 1}`;
  const contracts = subject.kind === 'wallet' ? subject.contracts : null;
  const scanLimit = contracts === null ? limit : sql`${scanMax}`;
  const scan = mergeOf(
    rangesOf(subject, about, isSpread).map((conditions) => [...conditions, ...bounds]),
    order,
    scanLimit,
  );
  const ofContracts = contracts === null ? [] : [sql`token_address = ANY (${contracts.map(addressBytes)}::bytea[])`];
  return sql`WITH ${joinSql(ctes)}, page AS MATERIALIZED (
  SELECT * FROM (${scan}) AS transfer ${where([...far, ...ofContracts])} ${orderBy(order)} LIMIT ${limit}
), related AS MATERIALIZED (
  SELECT ${contractsOf(chainId)} AS contracts,
    ${blocksOf(sql`SELECT block_number FROM page`, chainId)} AS blocks,
    ${labelsOf(sql`ARRAY(SELECT from_address FROM page UNION SELECT to_address FROM page)`, chainId)} AS labels)
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete,
  ${contracts === null ? rawSql('NULL') : stopOf(scan, far, { order, limit, scanLimit })} AS stop,
  related.*, transfers.*
FROM covered CROSS JOIN related CROSS JOIN (SELECT ${select} FROM page) AS transfers`;
}

function rangesOf(subject: NftTransfersSubject, about: Sql, isSpread: boolean): readonly (readonly Sql[])[] {
  if (subject.kind === 'wallet') {
    const ofSide = (side: Sql): readonly Sql[] => [
      sql`address_key(${side}) = address_key(${about})`,
      expectedTrue(sql`${side} = ${about}`),
    ];
    return [ofSide(sql`from_address`), [...ofSide(sql`to_address`), expectedTrue(sql`from_address <> ${about}`)]];
  }
  const place = sql`collection_key = address_key(${about})`;
  const isSame = expectedTrue(sql`token_address = ${about}`);
  if (subject.kind === 'collection') return [[place, isSame]];
  const id = sql`${subject.tokenId}::numeric`;
  return [
    [
      place,
      isSame,
      sql`token_id_key(token_id) = token_id_key(${id})`,
      expectedTrue(sql`token_id = ${id} AND last_token_id IS NULL`),
    ],
    [
      ...(isSpread ? [place] : []),
      sql`address_key(token_address) = address_key(${about})`,
      isSame,
      sql`last_token_id IS NOT NULL`,
      expectedTrue(sql`${id} BETWEEN token_id AND last_token_id`),
    ],
  ];
}

function mergeOf(ranges: readonly (readonly Sql[])[], order: 'ASC' | 'DESC', limit: Sql): Sql {
  const parts = ranges.map(
    (conditions) =>
      sql`SELECT ${COLUMNS} FROM nft_transfers AS transfer ${where(conditions)} ${orderBy(order)} LIMIT ${limit}`,
  );
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const bracketed = parts.map((part) => sql`(${part})`);
  return sql`SELECT * FROM (${joinSql(bracketed, ' UNION ALL ')}) AS transfer ${orderBy(order)} LIMIT ${limit}`;
}

/** Where the search for an unfilled page ended; null: no more rows. */
function stopOf(
  scan: Sql,
  far: readonly Sql[],
  { order, limit, scanLimit }: { readonly order: 'ASC' | 'DESC'; readonly limit: Sql; readonly scanLimit: Sql },
): Sql {
  return sql`CASE WHEN (SELECT count(*) FROM page) < ${limit}::bigint THEN (
    SELECT json_build_array(${joinSql(PLACE.map(rawSql))}) FROM (
      SELECT * FROM (${scan}) AS transfer ${orderBy(order)} OFFSET ${scanLimit}::bigint - 1 LIMIT 1) AS last ${where(far)}) END`;
}

const PLACE = ['block_number', 'transaction_index', 'log_index', 'item'] as const;
const COLUMNS = joinSql(
  [
    ...PLACE,
    ...['kind', 'token_address', 'token_id', 'last_token_id', 'from_address', 'to_address', 'amount', 'operator'],
    'transaction_hash',
  ].map((column) => rawSql(`transfer.${column}`)),
);

function orderBy(order: 'ASC' | 'DESC'): Sql {
  return rawSql(`ORDER BY ${PLACE.map((column) => `transfer.${column} ${order}`).join(', ')}`);
}

function valuesOf({ blockNumber, transactionIndex, logIndex, item }: NftTransferKey) {
  return [sql`${blockNumber}::bigint`, sql`${transactionIndex}`, sql`${logIndex}`, sql`${item}`] as const;
}

function contractsOf(chainId: Sql): Sql {
  return sql`(SELECT json_agg(json_build_array(encode(contract.address, 'hex'), shown.name, shown.symbol, shown.contract_type, shown.possible_spam, shown.verified))
    FROM (SELECT DISTINCT token_address AS address FROM page) AS contract CROSS JOIN LATERAL ${collectionFacts('contract.address', chainId)} AS shown)`;
}

export const NFT_TRANSFERS = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  item: int4('item'),
  kind: int4('kind'),
  token_address: hex<Address>('token_address', 20),
  token_id: digits('token_id'),
  /** Last id of an unexpanded range's mint; otherwise null. */
  last_token_id: textOrNull('last_token_id::text'),
  from: hex<Address>('from_address', 20),
  to: hex<Address>('to_address', 20),
  amount: digits('amount'),
  operator: hexOrNull<Address>('operator', 20),
  transaction_hash: hex<Hash>('transaction_hash', 32),
});

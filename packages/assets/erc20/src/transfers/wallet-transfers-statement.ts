import type { Chain } from '@chainstead/chains';
import type { Address, ChainId, Hash } from '@chainstead/core';
import { addressBytes, expectedTrue, joinSql, type Sql, sql, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { digits, hex, int4, int8, packedRows } from '@chainstead/db/packed-rows';
import { blocksOf, labelsOf, type PageBounds, pageRange, type ScanRange, scanRange } from '@chainstead/pages';
import { NFT_STANDARDS, tokensOf } from '@chainstead/tokens';
import { erc20Transfers } from './dataset.ts';
import {
  firstInOrder,
  firstInOrderOfBlocks,
  PLACE_COLUMNS,
  rangeOf,
  type TransferKey,
  transfersAfter,
} from './page/transfer-place.ts';

export interface WalletTransfersQuery extends PageBounds {
  readonly address: Address;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  /** Null: all. Each costs a separate range scan. */
  readonly tokens: readonly Address[] | null;
  readonly after: TransferKey | null;
  readonly count: boolean;
}

/** Excluding NFT contracts needs a lookup per row, so pages are first read with them. */
export type NftRows = 'shown' | 'left out';

export interface TransfersReading {
  readonly countMax: number;
  readonly nfts: NftRows;
  readonly select?: Sql;
}

/**
 * Every scan is an index range that stops after limit + 1 rows, by partition
 * (get-wallet-token-transfers.explain.test.ts): of the primary key, or one per token. The planner
 * must never consider sorting a whole wallet cheaper, with any statistics: no condition may have a
 * low expected row count. So addresses are compared by conditions expected to be true, and
 * contracts are looked up by subqueries, which can't become hash joins.
 */
export function walletTransfersStatement(
  chain: Chain,
  query: WalletTransfersQuery,
  { countMax, nfts, select = TRANSFERS.select }: TransfersReading,
): Sql {
  const { ctes, lower, upper, complete } = pageRange(chain, chain.id, erc20Transfers.name, query, null);
  const account = sql`${addressBytes(query.address)}::bytea`;
  const scan: Scan = {
    ofWallet: [
      sql`account_key = ${addressKey(query.address)}`,
      expectedTrue(sql`account = ${account}`),
      sql`chain_id = ${chain.id}`,
    ],
    chainId: chain.id,
    tokens: query.tokens === null ? null : sql`${query.tokens.map(addressBytes)}::bytea[]`,
    order: query.order,
    nfts,
  };
  const after = query.after === null ? null : transfersAfter(query.order, query.after);
  const { scan: bounds, far } = scanRange(query.order, { lower, upper }, after);
  const page = transfersOf(scan, bounds, query.limit + 1, PAGE_COLUMNS);
  const total = query.count
    ? countOf({ ...scan, nfts: 'left out' }, scanRange(query.order, { lower, upper }, null), countMax + 1)
    : sql`NULL::bigint`;
  const above = sql`block_number > coalesce((SELECT indexed_to FROM covered), -1)`;
  const newest = rangeOfWallet(scan, [above], sql`ORDER BY block_number DESC LIMIT 1`, sql`block_number`);
  return sql`WITH ${joinSql(ctes)}, page AS MATERIALIZED (SELECT * FROM (${page}) AS transfer ${where(far)}), related AS MATERIALIZED (
  SELECT ${tokensOf(sql`SELECT token FROM page`, chain.id)} AS tokens,
    ${blocksOf(sql`SELECT block_number FROM page`, chain.id)} AS blocks,
    ${labelsOf(sql`ARRAY(SELECT counterparty FROM page) || ${account}`, chain.id)} AS labels)
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, ${total} AS total,
  greatest(covered.indexed_to, (${newest})) AS newest,
  related.*, transfers.*
FROM covered CROSS JOIN related CROSS JOIN (SELECT ${select} FROM page) AS transfers`;
}

interface Scan {
  readonly ofWallet: readonly Sql[];
  readonly chainId: ChainId;
  readonly tokens: Sql | null;
  readonly order: 'ASC' | 'DESC';
  readonly nfts: NftRows;
}

function transfersOf(scan: Scan, bounds: readonly Sql[], limit: number, columns: Sql): Sql {
  const tail = firstInOrder(scan.order, limit);
  return scan.tokens === null
    ? rangeOfWallet(scan, [...bounds, isShown(scan, sql`transfer.token`)], tail, columns)
    : sql`SELECT ${columns} FROM ${transfersOfTokens(scan, scan.tokens, { bounds, limit, columns })} ${tail}`;
}

function transfersOfTokens(
  scan: Scan,
  tokens: Sql,
  { bounds, limit, columns }: { readonly bounds: readonly Sql[]; readonly limit: number; readonly columns: Sql },
): Sql {
  const ofToken = [sql`token_key(token) = token_key(wanted.address)`, expectedTrue(sql`token = wanted.address`)];
  const range = rangeOfWallet(scan, [...bounds, ...ofToken], firstInOrderOfBlocks(scan.order, limit), columns);
  return sql`(SELECT address FROM unnest(${tokens}) AS given(address) WHERE ${isShown(scan, sql`given.address`)}) AS wanted
    CROSS JOIN LATERAL (${range}) AS transfer`;
}

function rangeOfWallet({ ofWallet }: Scan, conditions: readonly Sql[], tail: Sql, columns: Sql): Sql {
  return rangeOf('erc20_transfer_sides', [...ofWallet, ...conditions], tail, columns);
}

/** At most `limit`: tokens are counted one after the other until it is reached. */
function countOf(scan: Scan, { scan: bounds, far }: ScanRange, limit: number): Sql {
  const rows =
    scan.tokens === null
      ? sql`SELECT 1 FROM (${transfersOf(scan, bounds, limit, PLACE_COLUMNS)}) AS row ${where(far)}`
      : sql`SELECT 1 FROM ${transfersOfTokens(scan, scan.tokens, { bounds, limit, columns: PLACE_COLUMNS })} ${where(far)} LIMIT ${limit}`;
  return sql`(SELECT count(*) FROM (${rows}) AS counted)`;
}

const PAGE_COLUMNS = sql`${PLACE_COLUMNS}, transfer.direction, transfer.token, transfer.counterparty, transfer.value, transfer.transaction_hash`;

export const TRANSFERS = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  direction: int4('direction'),
  token: hex<Address>('token', 20),
  counterparty: hex<Address>('counterparty', 20),
  value: digits('value'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
});

/**
 * If NFTs are shown, always true: the lookup makes every plan so much more expensive than a sort
 * that the planner uses the index order.
 */
function isShown({ nfts, chainId }: Scan, token: Sql): Sql {
  const condition = sql`(SELECT standard IN (${NFT_STANDARDS}) FROM tokens WHERE address = ${token} AND chain_id = ${chainId}) IS NOT TRUE`;
  return nfts === 'shown'
    ? sql`(CASE WHEN ${token} IS NOT NULL THEN true WHEN ${condition} THEN true END) IS NOT NULL`
    : expectedTrue(condition);
}

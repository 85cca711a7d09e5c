import type { Chain } from '@chainstead/chains';
import type { Address, ChainId, Hash } from '@chainstead/core';
import { addressBytes, expectedTrue, joinSql, type Sql, sql, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { digits, hex, int4, int8, packedRows } from '@chainstead/db/packed-rows';
import { blocksOf, labelsOf, type PageBounds, pageRange, type ScanRange, scanRange } from '@chainstead/pages';
import { erc20Transfers } from './dataset.ts';
import { NFT_STANDARDS, tokensOf } from './page/related-to-transfers.ts';
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
  /** Null for all. Each costs a separate range scan. */
  readonly tokens: readonly Address[] | null;
  readonly after: TransferKey | null;
  readonly count: boolean;
}

/**
 * Handling of transfers of contracts that turned out to be NFT contracts. Excluding them needs a lookup per row, so
 * pages are first read including them: the page's token data shows whether it has any.
 */
export type NftRows = 'shown' | 'left out';

export interface TransfersReading {
  readonly countMax: number;
  readonly nfts: NftRows;
  readonly select?: Sql;
}

/**
 * Builds the statement of a page. In each partition, every scan of transfers is an index range that stops after limit +
 * 1 rows (get-wallet-token-transfers.explain.test.ts). The index is the primary key (account key, chain, block,
 * transaction, log); with a token filter it is `erc20_transfer_sides_by_token`, one range per token, each to the end of
 * a block, merged. Partitions are ordered by height: they are read one after the other, and none before the start of a
 * page.
 *
 * The planner must never consider reading and sorting a whole wallet cheaper, whether statistics are fresh, old or
 * missing. Therefore no condition of the scan may have a low expected row count. The whole address and token are
 * compared next to their keys, as conditions expected to be true. Contracts are looked up by subqueries, which can't
 * become hash joins.
 *
 * Data shown next to a page is in one CTE, together with its blocks: see `blocksOf`.
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

/** One range scan per token, of `limit` transfers at most. */
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

/** At most `limit`. Tokens are counted one after the other until it is reached. */
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
 * Whether the contract is not known to be an NFT contract; always true if NFTs are shown. The lookup stays in the
 * condition then, after one that is always true: it makes every plan so much more expensive than a sort that the
 * planner uses the index order.
 */
function isShown({ nfts, chainId }: Scan, token: Sql): Sql {
  const condition = sql`(SELECT standard IN (${NFT_STANDARDS}) FROM tokens WHERE address = ${token} AND chain_id = ${chainId}) IS NOT TRUE`;
  return nfts === 'shown'
    ? sql`(CASE WHEN ${token} IS NOT NULL THEN true WHEN ${condition} THEN true END) IS NOT NULL`
    : expectedTrue(condition);
}

import { blocksOf, boundsInSql, labelsOf, type PageBounds } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { addressBytes, expectedTrue, type Statement, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { digits, hex, int4, int8, packedRows } from '@chainstead/db/packed-rows';
import { erc20Transfers } from './dataset.ts';
import { NFT_STANDARDS, tokensOf } from './page/beside-transfers.ts';
import {
  beyond,
  boundsOfScan,
  firstInOrder,
  firstInOrderOfBlocks,
  PLACE_COLUMNS,
  rangeOf,
  type TransferKey,
} from './page/transfer-place.ts';

/** What to read. */
export interface WalletTransfersQuery extends PageBounds {
  readonly address: Address;
  readonly order: 'ASC' | 'DESC';
  /** Rows wanted; one more is read to see whether a page follows. */
  readonly limit: number;
  /** Token contracts; null for all. Each costs a range scan of its own. */
  readonly tokens: readonly Address[] | null;
  /** Rows strictly beyond this one; null for the first page. */
  readonly after: TransferKey | null;
  /** Count the whole answer too. */
  readonly count: boolean;
}

/**
 * What becomes of transfers of contracts that turned out to be of NFTs. Leaving them out looks up each row's contract, so
 * pages are read with them at first: the tokens that are told beside the page say whether it has any.
 */
export type NftRows = 'shown' | 'left out';

/** How a page is read. */
export interface TransfersReading {
  /** What the whole answer is counted up to. */
  readonly countMax: number;
  readonly nfts: NftRows;
  /** Of {@link TRANSFERS}. */
  readonly select?: string;
}

/**
 * The statement behind a page, in which every scan of transfers is, in each partition, a range of an index that stops after
 * limit + 1 rows: of the primary key (account's key, chain, block, transaction, log), or with a token filter of
 * `erc20_transfers_by_token` for each token, to the end of a block, merged (get-wallet-token-transfers.explain.test.ts). Partitions lie by height, so that they
 * are read one after the other, and none before the one where a page begins.
 *
 * The planner must not find reading and sorting a whole wallet cheaper, with fresh statistics, old ones, or none. So nothing
 * stands in the scan that makes it expect few rows: the whole address and the whole token are compared beside their keys as
 * what is expected to be true, and contracts are looked up by subqueries, which can't become hash joins.
 *
 * What is shown beside a page stands in one CTE, together with its blocks: see `blocksOf`.
 */
export function walletTransfersStatement(
  chain: Chain,
  query: WalletTransfersQuery,
  { countMax, nfts, select = TRANSFERS.select }: TransfersReading,
): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const account = bind(addressBytes(query.address));
  const chainId = bind(chain.id);
  const { ctes, lower, upper, complete } = boundsInSql(chain, chainId, erc20Transfers.name, query, bind, null);
  const [near, far] = query.order === 'DESC' ? [upper, lower] : [lower, upper];
  const scan = {
    account,
    accountKey: bind(addressKey(query.address)),
    chainId,
    tokens: query.tokens === null ? null : bind(query.tokens.map(addressBytes)),
    order: query.order,
    nfts,
  };
  // The key implies the near bounds. Left in, they would be where the scan begins: a btree starts at one bound, not the tighter.
  const start = query.after === null ? near : beyond(query.order, query.after, bind);
  const page = transfersOf(scan, boundsOfScan(start, far), bind(query.limit + 1), PAGE_COLUMNS);
  const counting = { ...scan, nfts: 'left out' } as const;
  const total = query.count ? countOf(counting, near, far, bind(countMax + 1)) : 'NULL::bigint';
  const text = `WITH ${ctes.join(', ')}, page AS MATERIALIZED (SELECT * FROM (${page}) AS transfer ${where(far)}), beside AS MATERIALIZED (
  SELECT ${tokensOf('SELECT token FROM page', chainId)} AS tokens,
    ${blocksOf('SELECT block_number FROM page', chainId)} AS blocks,
    ${labelsOf(`ARRAY(SELECT counterparty FROM page) || ${account}::bytea`, chainId)} AS labels)
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, ${total} AS total,
  greatest(covered.indexed_to, ${newestBlock(scan)}) AS newest,
  beside.*, transfers.*
FROM covered CROSS JOIN beside CROSS JOIN (SELECT ${select} FROM page) AS transfers`;
  return { text, values };
}

interface Scan {
  readonly account: string;
  readonly accountKey: string;
  readonly chainId: string;
  readonly tokens: string | null;
  readonly order: 'ASC' | 'DESC';
  readonly nfts: NftRows;
}

/** The first `limit` transfers in order. */
function transfersOf(scan: Scan, bounds: readonly string[], limit: string, columns: string): string {
  const tail = firstInOrder(scan.order, limit);
  if (scan.tokens !== null) return `SELECT ${columns} FROM ${transfersOfTokens(scan, bounds, limit, columns)} ${tail}`;
  return rangeOfWallet(scan, [...bounds, isShown(scan, 'transfer', 'token')], tail, columns);
}

/** The first `limit` transfers of each wanted token, one range scan a token. */
function transfersOfTokens(scan: Scan, bounds: readonly string[], limit: string, columns: string): string {
  const ofToken = ['token_key(token) = token_key(wanted.address)', expectedTrue('token = wanted.address')];
  const range = rangeOfWallet(scan, [...bounds, ...ofToken], firstInOrderOfBlocks(scan.order, limit), columns);
  return `(SELECT address FROM unnest(${scan.tokens}::bytea[]) AS given(address) WHERE ${isShown(scan, 'given', 'address')}) AS wanted
    CROSS JOIN LATERAL (${range}) AS transfer`;
}

function rangeOfWallet(
  { account, accountKey, chainId }: Scan,
  conditions: readonly string[],
  tail: string,
  columns: string,
): string {
  const ofWallet = [`account_key = ${accountKey}`, expectedTrue(`account = ${account}`), `chain_id = ${chainId}`];
  return rangeOf('erc20_transfers', [...ofWallet, ...conditions], tail, columns);
}

/** How many transfers there are, no more than `limit`. Tokens are counted one after the other until it is reached. */
function countOf(scan: Scan, near: readonly string[], far: readonly string[], limit: string): string {
  const bounds = boundsOfScan(near, far);
  const rows =
    scan.tokens === null
      ? `SELECT 1 FROM (${transfersOf(scan, bounds, limit, PLACE_COLUMNS)}) AS row ${where(far)}`
      : `SELECT 1 FROM ${transfersOfTokens(scan, bounds, limit, PLACE_COLUMNS)} ${where(far)} LIMIT ${limit}`;
  return `(SELECT count(*) FROM (${rows}) AS counted)`;
}

const PAGE_COLUMNS = `${PLACE_COLUMNS}, transfer.direction, transfer.token, transfer.counterparty, transfer.value, transfer.transaction_hash`;

/** The rows of a page. Addresses and hashes are lower-case hexadecimal text. */
export const TRANSFERS = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  /** The wallet's part in it: a {@link Direction}. */
  direction: int4('direction'),
  token: hex<Address>('token', 20),
  counterparty: hex<Address>('counterparty', 20),
  value: digits('value'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
});

/**
 * Whether the contract has not turned out to be of NFTs; of every one where NFTs are shown. The look-up stands in the condition then too,
 * behind what is always true: it makes every plan cost so much more than a sort that the planner takes the one in the index' order.
 */
function isShown({ nfts, chainId }: Scan, table: string, token: string): string {
  const isNft = `(SELECT standard IN (${NFT_STANDARDS}) FROM tokens WHERE address = ${table}.${token} AND chain_id = ${chainId})`;
  const condition = `${isNft} IS NOT TRUE`;
  return nfts === 'shown'
    ? `(CASE WHEN ${table}.${token} IS NOT NULL THEN true WHEN ${condition} THEN true END) IS NOT NULL`
    : expectedTrue(condition);
}

/** The wallet's newest block above the covered ones. */
function newestBlock(scan: Scan): string {
  const above = 'block_number > coalesce((SELECT indexed_to FROM covered), -1)';
  return `(${rangeOfWallet(scan, [above], 'ORDER BY block_number DESC LIMIT 1', 'block_number')})`;
}

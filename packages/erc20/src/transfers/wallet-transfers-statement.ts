import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import {
  blocksOfOld,
  boundsInSqlOld,
  labelsOfOld,
  type PageBounds,
  type ScanBounds,
  scanBoundsOld,
} from '@chainstead/data-api';
import { addressBytes, expectedTrueOld, type Statement, whereOld } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { digits, hex, int4, int8, packedRows } from '@chainstead/db/packed-rows';
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

/** The query of a page. */
export interface WalletTransfersQuery extends PageBounds {
  readonly address: Address;
  readonly order: 'ASC' | 'DESC';
  /** Requested rows; one more is read to detect a next page. */
  readonly limit: number;
  /** Token contracts; null for all. Each costs a separate range scan. */
  readonly tokens: readonly Address[] | null;
  /** Rows after this one; null for the first page. */
  readonly after: TransferKey | null;
  /** Whether to count the whole run. */
  readonly count: boolean;
}

/**
 * Handling of transfers of contracts that turned out to be NFT contracts. Excluding them needs a lookup per row, so
 * pages are first read including them: the page's token data shows whether it has any.
 */
export type NftRows = 'shown' | 'left out';

/** Options of reading a page. */
export interface TransfersReading {
  /** Maximum count of the whole run. */
  readonly countMax: number;
  readonly nfts: NftRows;
  /** The select list of {@link TRANSFERS}. */
  readonly select?: string;
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
  { countMax, nfts, select = TRANSFERS.selectOld }: TransfersReading,
): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const account = bind(addressBytes(query.address));
  const chainId = bind(chain.id);
  const { ctes, lower, upper, complete } = boundsInSqlOld(chain, chainId, erc20Transfers.name, query, bind, null);
  const scan = {
    account,
    accountKey: bind(addressKey(query.address)),
    chainId,
    tokens: query.tokens === null ? null : bind(query.tokens.map(addressBytes)),
    order: query.order,
    nfts,
  };
  const after = query.after === null ? null : transfersAfter(query.order, query.after, bind);
  const { scan: bounds, far } = scanBoundsOld(query.order, { lower, upper }, after);
  const page = transfersOf(scan, bounds, bind(query.limit + 1), PAGE_COLUMNS);
  const counting = { ...scan, nfts: 'left out' } as const;
  const total = query.count
    ? countOf(counting, scanBoundsOld(query.order, { lower, upper }, null), bind(countMax + 1))
    : 'NULL::bigint';
  const text = `WITH ${ctes.join(', ')}, page AS MATERIALIZED (SELECT * FROM (${page}) AS transfer ${whereOld(far)}), related AS MATERIALIZED (
  SELECT ${tokensOf('SELECT token FROM page', chainId)} AS tokens,
    ${blocksOfOld('SELECT block_number FROM page', chainId)} AS blocks,
    ${labelsOfOld(`ARRAY(SELECT counterparty FROM page) || ${account}::bytea`, chainId)} AS labels)
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, ${total} AS total,
  greatest(covered.indexed_to, ${newestBlock(scan)}) AS newest,
  related.*, transfers.*
FROM covered CROSS JOIN related CROSS JOIN (SELECT ${select} FROM page) AS transfers`;
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

/** Returns the first `limit` transfers in order. */
function transfersOf(scan: Scan, bounds: readonly string[], limit: string, columns: string): string {
  const tail = firstInOrder(scan.order, limit);
  if (scan.tokens !== null) return `SELECT ${columns} FROM ${transfersOfTokens(scan, bounds, limit, columns)} ${tail}`;
  return rangeOfWallet(scan, [...bounds, isShown(scan, 'transfer', 'token')], tail, columns);
}

/** Returns the first `limit` transfers of each requested token, one range scan per token. */
function transfersOfTokens(scan: Scan, bounds: readonly string[], limit: string, columns: string): string {
  const ofToken = ['token_key(token) = token_key(wanted.address)', expectedTrueOld('token = wanted.address')];
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
  const ofWallet = [`account_key = ${accountKey}`, expectedTrueOld(`account = ${account}`), `chain_id = ${chainId}`];
  return rangeOf('erc20_transfer_sides', [...ofWallet, ...conditions], tail, columns);
}

/** Returns the number of transfers, at most `limit`. Tokens are counted one after the other until it is reached. */
function countOf(scan: Scan, { scan: bounds, far }: ScanBounds, limit: string): string {
  const rows =
    scan.tokens === null
      ? `SELECT 1 FROM (${transfersOf(scan, bounds, limit, PLACE_COLUMNS)}) AS row ${whereOld(far)}`
      : `SELECT 1 FROM ${transfersOfTokens(scan, bounds, limit, PLACE_COLUMNS)} ${whereOld(far)} LIMIT ${limit}`;
  return `(SELECT count(*) FROM (${rows}) AS counted)`;
}

const PAGE_COLUMNS = `${PLACE_COLUMNS}, transfer.direction, transfer.token, transfer.counterparty, transfer.value, transfer.transaction_hash`;

/** The rows of a page. Addresses and hashes are lower-case hexadecimal text. */
export const TRANSFERS = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  /** The wallet's side: a {@link Direction}. */
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
function isShown({ nfts, chainId }: Scan, table: string, token: string): string {
  const isNft = `(SELECT standard IN (${NFT_STANDARDS}) FROM tokens WHERE address = ${table}.${token} AND chain_id = ${chainId})`;
  const condition = `${isNft} IS NOT TRUE`;
  return nfts === 'shown'
    ? `(CASE WHEN ${table}.${token} IS NOT NULL THEN true WHEN ${condition} THEN true END) IS NOT NULL`
    : expectedTrueOld(condition);
}

/** Returns the wallet's newest block above the covered ones. */
function newestBlock(scan: Scan): string {
  const above = 'block_number > coalesce((SELECT indexed_to FROM covered), -1)';
  return `(${rangeOfWallet(scan, [above], 'ORDER BY block_number DESC LIMIT 1', 'block_number')})`;
}

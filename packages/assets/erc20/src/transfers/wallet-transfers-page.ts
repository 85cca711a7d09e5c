import type { Chain } from '@chainstead/chains';
import type { Address, ChainId } from '@chainstead/core';
import {
  addressBytes,
  expectedTrue,
  type KeysetOrder,
  type ReadDatabase,
  rawSql,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { rowsOf } from '@chainstead/db/rows-of';
import { routesFor } from '@chainstead/http';
import {
  type ChainQuery,
  chainPage,
  chainRange,
  LOG_ORDER,
  type LogPosition,
  newestOfRun,
  type ScanRange,
  scanRange,
} from '@chainstead/pages';
import { NFT_STANDARDS, type PackedTokens, readTokens, tokenBook, tokensOf } from '@chainstead/tokens/token-book';
import { erc20Transfers } from './dataset.ts';
import { transferView } from './page/transfer-response.ts';
import { erc20Transfers as erc20TransferSides } from './schema.ts';

export interface WalletTransfersQuery extends ChainQuery<LogPosition> {
  readonly address: Address;
  /** Null: all. Each costs a separate range scan. */
  readonly tokens: readonly Address[] | null;
  /** Counts the whole run, up to {@link COUNT_MAX}. */
  readonly count: boolean;
}

/** Exact totals are counted up to here. */
export const COUNT_MAX = 10_000;

/** @throws {InconsistentPageError} if a transfer repeatedly lacks its block */
export async function readWalletTransfers(database: ReadDatabase, chain: Chain, query: WalletTransfersQuery) {
  const withNfts = await walletTransfersPage(chain, query, 'shown').read(database);
  const { tokens, ...list } = withNfts.tokens.hasNfts
    ? await walletTransfersPage(chain, query, 'left out').read(database)
    : withNfts;
  return { ...list, tokenOf: tokens.tokenOf };
}

/** Excluding NFT contracts needs a lookup per row, so pages are first read with them. */
export type NftRows = 'shown' | 'left out';

/**
 * Every scan is an index range that stops after limit + 1 rows, by partition
 * (wallet-transfers-page.explain.test.ts): of the primary key, or one per token. The planner
 * must never consider sorting a whole wallet cheaper, with any statistics: no condition may have a
 * low expected row count. So addresses are compared by conditions expected to be true, and
 * contracts are looked up by subqueries, which can't become hash joins.
 */
export function walletTransfersPage(chain: Chain, query: WalletTransfersQuery, nfts: NftRows) {
  const { order } = query;
  const range = chainRange(chain, erc20Transfers.name, query, LOG_ORDER);
  const account = sql`${addressBytes(query.address)}::bytea`;
  const ofWallet = [
    sql`account_key = ${addressKey(query.address)}`,
    expectedTrue(sql`account = ${account}`),
    sql`chain_id = ${chain.id}`,
  ];
  const tokens = query.tokens === null ? null : sql`${query.tokens.map(addressBytes)}::bytea[]`;
  const scan: Scan = { ofWallet, chainId: chain.id, tokens, order, nfts };
  const transfers = transfersOf(scan, range.scan, query.limit + 1, TRANSFERS.columnsOf('transfer'));
  const total = query.count
    ? countOf({ ...scan, nfts: 'left out' }, scanRange(order, range, null), COUNT_MAX + 1)
    : sql`NULL::bigint`;
  return chainPage({
    ...{ chain, query, range, order: LOG_ORDER, scan: transfers, rows: TRANSFERS },
    newest: newestOfRun(query.order, [{ from: TABLE, of: ofWallet }]),
    labelled: sql`ARRAY(SELECT counterparty FROM page) || ${account}`,
    related: {
      tokens: { column: tokensOf(sql`SELECT token FROM page`, chain.id), read: pageTokens },
      count: { column: total, read: (rows: number | null) => (rows !== null && rows <= COUNT_MAX ? rows : null) },
    },
  });
}

/** `hasNfts`: even if only of the row after the page. */
function pageTokens(packed: PackedTokens) {
  const tokens = readTokens(packed);
  return { tokenOf: tokenBook(tokens), hasNfts: tokens.some(({ isNft }) => isNft) };
}

const TABLE = 'erc20_transfer_sides';

interface Scan {
  readonly ofWallet: readonly Sql[];
  readonly chainId: ChainId;
  readonly tokens: Sql | null;
  readonly order: KeysetOrder;
  readonly nfts: NftRows;
}

function transfersOf(scan: Scan, bounds: readonly Sql[], limit: number, columns: Sql): Sql {
  const inOrder = sql`${LOG_ORDER.by(scan.order, 'transfer.')} LIMIT ${limit}`;
  return scan.tokens === null
    ? sql`SELECT ${columns} ${ofWalletIn(scan, [...bounds, isShown(scan, sql`transfer.token`)])} ${inOrder}`
    : sql`SELECT ${columns} FROM ${transfersOfTokens(scan, scan.tokens, { bounds, limit, columns })} ${inOrder}`;
}

function transfersOfTokens(
  scan: Scan,
  tokens: Sql,
  { bounds, limit, columns }: { readonly bounds: readonly Sql[]; readonly limit: number; readonly columns: Sql },
): Sql {
  const ofToken = [sql`token_key(token) = token_key(wanted.address)`, expectedTrue(sql`token = wanted.address`)];
  return sql`(SELECT address FROM unnest(${tokens}) AS given(address) WHERE ${isShown(scan, sql`given.address`)}) AS wanted
    CROSS JOIN LATERAL (SELECT ${columns} ${ofWalletIn(scan, [...bounds, ...ofToken])}
      ${LOG_ORDER.byBlock(scan.order, 'transfer.')} LIMIT ${limit}) AS transfer`;
}

function ofWalletIn({ ofWallet }: Scan, conditions: readonly Sql[]): Sql {
  return sql`FROM ${rawSql(TABLE)} AS transfer ${where([...ofWallet, ...conditions])}`;
}

/** At most `limit`: tokens are counted one after the other until it is reached. */
function countOf(scan: Scan, { scan: bounds, far }: ScanRange, limit: number): Sql {
  const rows =
    scan.tokens === null
      ? sql`SELECT 1 FROM (${transfersOf(scan, bounds, limit, POSITION)}) AS row ${where(far)}`
      : sql`SELECT 1 FROM ${transfersOfTokens(scan, scan.tokens, { bounds, limit, columns: POSITION })} ${where(far)} LIMIT ${limit}`;
  return sql`(SELECT count(*) FROM (${rows}) AS counted)`;
}

const POSITION = sql`transfer.block_number, transfer.transaction_index, transfer.log_index`;
/** All but the requested wallet and chain. */
const TRANSFERS = rowsOf(erc20TransferSides, ['account_key', 'chain_id', 'account']);

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

const { defineListRoute } = routesFor<unknown>();

/** docs/api/tokens.md#wallet-transfers */
export const walletTokenTransfersRoute = defineListRoute({
  path: '/api/v2.2/{address}/erc20/transfers',
  operationId: 'getWalletTokenTransfers',
  tag: 'Wallets',
  summary: 'List ERC-20 transfers by wallet',
  description:
    'Transfers sent or received by a wallet, by block number, newest first by default. Use `cursor` for the next page; new rows never shift pages.',
  params: ['address'],
  query: ['chain', 'blockBounds', 'limit', 'order', { contract_addresses: 'addresses' }],
  hasTotal: true,
  name: 'Erc20Transfers',
  response: 'A page of ERC-20 transfers',
  datasets: [erc20Transfers.name],
  position: LOG_ORDER.position,
  firstPage: 0,
  read: ({ reads, chain, address, contract_addresses: tokens = null, query, counts }) =>
    readWalletTransfers(reads, chain, { ...query, address, tokens, count: counts }),
  view: transferView,
  row: (row, list, { address }) => [{ ...row, account: address }, list],
});

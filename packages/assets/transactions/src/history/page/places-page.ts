import type { Chain } from '@chainstead/chains';
import { type Address, parseHash } from '@chainstead/core';
import {
  addressBytes,
  expectedTrue,
  joinSql,
  type ReadDatabase,
  rawSql,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { int4, int8, packedRows, type RowOf, textOrNull } from '@chainstead/db/packed-rows';
import {
  chainPage,
  chainRange,
  InconsistentPageError,
  type Indexed,
  type IndexedColumns,
  newestOfRun,
  pageRange,
  readIndexed,
  TRANSACTION_ORDER,
} from '@chainstead/pages';
import { internalTransfers } from '../../internal-transfers/dataset.ts';
import { IN_HISTORY, watchedBlocks } from '../../stored/account-transactions-page.ts';
import { accountTransactions } from '../../stored/datasets.ts';
import type { HistoryQuery } from './history-query.ts';

export const WALLET_TABLES = {
  account: { table: 'account_transactions', key: 'account_key', account: 'account', also: IN_HISTORY },
  internal: { table: 'internal_transfers', key: 'account_key', account: 'account' },
  token: { table: 'erc20_transfer_sides', key: 'account_key', account: 'account' },
  nftFrom: { table: 'nft_transfers', key: 'address_key(from_address)', account: 'from_address' },
  nftTo: { table: 'nft_transfers', key: 'address_key(to_address)', account: 'to_address' },
  approval: { table: 'erc20_approvals', key: 'owner_key', account: 'owner' },
} as const satisfies Record<string, WalletTable>;

const { account, token, nftFrom, nftTo, approval, internal } = WALLET_TABLES;
const RANGES: readonly WalletTable[] = [account, token, nftFrom, nftTo, approval, internal];

export const ASSET_MOVEMENT_DATASETS = ['erc20-transfers', 'nft-transfers', 'erc20-approvals'] as const;
const [TRANSFERS] = ASSET_MOVEMENT_DATASETS;
/** Without stored transactions, those without legs of the wallet are missing. */
function historyDatasets({ transactions }: Chain): readonly string[] {
  return [...ASSET_MOVEMENT_DATASETS, ...(transactions.mode === 'off' ? [] : [accountTransactions.name])];
}

/** `isTraced`: in all blocks. @throws {InconsistentPageError} for a transaction without its row */
export async function readPlaces(database: ReadDatabase, chain: Chain, query: HistoryQuery) {
  const readCovered = async (dataset: string): Promise<Indexed> => {
    const [row] = await database.select<IndexedColumns>(coverageStatement(chain, dataset, query));
    return readIndexed(row);
  };
  const otherDatasets = historyDatasets(chain).filter((dataset) => dataset !== TRANSFERS);
  const [page, others, traces] = await Promise.all([
    placesPage(chain, query).read(database),
    Promise.all(otherDatasets.map(async (dataset) => ({ dataset, indexed: await readCovered(dataset) }))),
    chain.internalTransfers === 'all' ? readCovered(internalTransfers.name) : null,
  ]);
  const hashes = await readHashes(database, chain, page.rows);
  const places = page.rows.map((row) => {
    const { block_number: block, transaction_index: transaction } = row;
    const digits = row.hash ?? hashes.get(`${block} ${transaction}`);
    // Both tables are written and removed together.
    if (digits === undefined) throw new InconsistentPageError(block);
    return { block, transaction, hash: parseHash(`0x${digits}`) };
  });
  const isLeg = (dataset: string): boolean => ASSET_MOVEMENT_DATASETS.some((leg) => leg === dataset);
  const legs = [page.indexed, ...others.flatMap(({ dataset, indexed }) => (isLeg(dataset) ? [indexed] : []))];
  const indexed = [page.indexed, ...others.map((other) => other.indexed)].reduce(together);
  const syncedBlock = legs.reduce(together).toBlock;
  const highest = [query.toBlock, query.pinnedBlock, syncedBlock].filter((bound) => bound !== null);
  const { complete = false, toBlock: tracedTo = null } = traces ?? {};
  return {
    ...{ places, next: page.next, blockOf: page.blockOf },
    indexed: { ...indexed, complete: indexed.complete && chain.transactions.mode !== 'off' },
    isTraced: complete && tracedTo !== null && tracedTo >= Math.min(...highest),
    syncedBlock,
  };
}

/** Merges ranges that stop after limit + 1: the planner must not read and sort a whole wallet. */
export function placesPage(chain: Chain, query: HistoryQuery) {
  const chainId = sql`${chain.id}`;
  const wallet = sql`${addressBytes(query.wallet)}::bytea`;
  const of = { kind: 'wallet', subject: wallet, chainId, dataset: TRANSFERS } as const;
  const range = chainRange(chain, of, query, TRANSACTION_ORDER);
  const tail = sql`${TRANSACTION_ORDER.by(query.order)} LIMIT ${query.limit + 1}`;
  const rowsOf = (table: WalletTable) => [
    ...rowsOfWallet(table, query.wallet),
    ...(table.also === undefined ? [] : [expectedTrue(table.also)]),
    sql`chain_id = ${chainId}`,
  ];
  const ranges = RANGES.map((table) => {
    const columns =
      table === account
        ? sql`NULL::text AS hash, transaction_key::text AS row_key`
        : sql`encode(transaction_hash, 'hex') AS hash, NULL::text AS row_key`;
    return sql`(SELECT DISTINCT ON (block_number, transaction_index) block_number, transaction_index, ${columns} FROM ${rawSql(table.table)} AS part
      ${where([...rowsOf(table), ...range.scan])} ${tail})`;
  });
  return chainPage({
    ...{ chain, query, range, order: TRANSACTION_ORDER, rows: PLACES, related: {} },
    scan: sql`SELECT block_number, transaction_index, max(hash) AS hash, max(row_key) AS row_key
  FROM (${joinSql(ranges, '\n    UNION ALL ')}) AS found GROUP BY block_number, transaction_index ${tail}`,
    newest: newestOfRun(
      query.order,
      RANGES.map((table) => ({ from: table.table, of: rowsOf(table) })),
    ),
  });
}

const PLACES = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  /** Hexadecimal digits; null: only `row_key` leads to it. */
  hash: textOrNull('hash'),
  row_key: textOrNull('row_key'),
});

async function readHashes(database: ReadDatabase, chain: Chain, places: readonly RowOf<typeof PLACES>[]) {
  const wanted = places.filter(({ hash }) => hash === null);
  if (wanted.length === 0) return new Map<string, string>();
  const rows = await database.select<{ block: number; index: number; hash: string }>(
    sql`SELECT row.block_number::int8 AS block, row.transaction_index AS index, encode(row.transaction_hash, 'hex') AS hash
     FROM unnest(${wanted.map((place) => place.row_key)}::bigint[], ${wanted.map((place) => place.block_number)}::int[],
       ${wanted.map((place) => place.transaction_index)}::int[]) AS wanted(key, block, index)
     JOIN transactions AS row ON row.transaction_key = wanted.key AND row.chain_id = ${chain.id} AND row.block_number = wanted.block
       AND row.transaction_index = wanted.index`,
  );
  return new Map(rows.map(({ block, index, hash }) => [`${block} ${index}`, hash]));
}

function coverageStatement(chain: Chain, dataset: string, query: HistoryQuery) {
  const chainId = sql`${chain.id}`;
  const subject = sql`${addressBytes(query.wallet)}::bytea`;
  // For a requested wallet, blocks are searched as they are followed.
  const isWatched = dataset === accountTransactions.name && chain.transactions.mode === 'wallets';
  const followed = isWatched ? { followed: watchedBlocks(chainId, subject) } : {};
  const of = { kind: 'wallet', subject, chainId, dataset, ...followed } as const;
  const { ctes, complete } = pageRange(chain, chainId, of, query, null);
  return sql`WITH ${joinSql(ctes)} SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete FROM covered`;
}

function together(a: Indexed, b: Indexed): Indexed {
  const complete = a.complete && b.complete;
  if (a.fromBlock === null || b.fromBlock === null || a.toBlock === null || b.toBlock === null)
    return { fromBlock: null, toBlock: null, complete };
  const [from, to] = [Math.max(a.fromBlock, b.fromBlock), Math.min(a.toBlock, b.toBlock)];
  return from > to ? { fromBlock: null, toBlock: null, complete } : { fromBlock: from, toBlock: to, complete };
}

export interface WalletTable {
  readonly table: string;
  readonly key: string;
  readonly account: string;
  readonly also?: Sql;
}

export const NFT_FROM_OTHERS = { ...WALLET_TABLES.nftTo, also: sql`from_address <> to_address` };

export function rowsOfWallet(
  { key, account }: Pick<WalletTable, 'key' | 'account'>,
  wallet: Address,
): readonly Sql[] {
  return [
    sql`${rawSql(key)} = ${addressKey(wallet)}::bigint`,
    expectedTrue(sql`${rawSql(account)} = ${addressBytes(wallet)}::bytea`),
  ];
}

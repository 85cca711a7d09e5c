import { boundsInSql, type PageBounds, type TablesInUse } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { addressBytes, expectedTrue, type Statement, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { digits, hex, int4, int8, moment, packedRows } from '@chainstead/db/packed-rows';
import { erc20Transfers } from './dataset.ts';
import { FORMER_TABLE } from './schema.ts';

/** Where a page ended: the place of its last row in the chain. */
export interface TransferKey {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

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
  readonly tables: TablesInUse;
  /** Of {@link TRANSFERS}. */
  readonly select?: string;
}

/**
 * The statement behind a page, in which every scan of transfers is, in each partition, a range of an index that stops after
 * limit + 1 rows: of the primary key (account's key, chain, block, transaction, log), or with a token filter of
 * `erc20_transfers_by_token` for each token, merged (get-wallet-token-transfers.explain.test.ts). Partitions lie by height, so that they
 * are read one after the other, and none before the one where a page begins.
 *
 * The planner must not find reading and sorting a whole wallet cheaper, with fresh statistics, old ones, or none. So nothing
 * stands in the scan that makes it expect few rows: the whole address and the whole token are compared beside their keys as
 * what is expected to be true, and contracts are looked up by subqueries, which can't become hash joins.
 */
export function walletTransfersStatement(
  chain: Chain,
  query: WalletTransfersQuery,
  { countMax, nfts, tables, select = TRANSFERS.select }: TransfersReading,
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
    tables: TABLES[tables],
  };
  // The key implies the near bounds. Left in, they would be where the scan begins: a btree starts at one bound, not the tighter.
  const start = query.after === null ? near : beyond(query.order, query.after, bind);
  const page = transfersOf(scan, boundsOfScan(start, far), bind(query.limit + 1), PAGE_COLUMNS);
  const counting = { ...scan, nfts: 'left out' } as const;
  const total = query.count ? countOf(counting, near, far, bind(countMax + 1)) : 'NULL::bigint';
  const text = `WITH ${ctes.join(', ')}, page AS MATERIALIZED (SELECT * FROM (${page}) AS transfer ${where(far)})
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, ${total} AS total,
  greatest(covered.indexed_to, ${newestBlocks(scan)}) AS newest,
  ${tokensOf('SELECT token FROM page', chainId)} AS tokens,
  ${blocksOf('SELECT block_number FROM page', chainId)} AS blocks,
  ${labelsOf(`SELECT counterparty FROM page`, account, chainId)} AS labels,
  transfers.*
FROM covered CROSS JOIN (SELECT ${select} FROM page) AS transfers`;
  return { text, values };
}

interface Scan {
  readonly account: string;
  readonly accountKey: string;
  readonly chainId: string;
  readonly tokens: string | null;
  readonly order: 'ASC' | 'DESC';
  readonly nfts: NftRows;
  readonly tables: readonly TransferTable[];
}

/** A table of transfers, and how its rows are found. */
interface TransferTable {
  readonly name: string;
  ofWallet(scan: Pick<Scan, 'account' | 'accountKey'>): readonly string[];
  /** Of the token `wanted.address`. */
  readonly ofToken: readonly string[];
}

const PARTITIONED: TransferTable = {
  name: 'erc20_transfers',
  ofWallet: ({ account, accountKey }) => [`account_key = ${accountKey}`, expectedTrue(`account = ${account}`)],
  ofToken: ['token_key(token) = token_key(wanted.address)', expectedTrue('token = wanted.address')],
};

const UNPARTITIONED: TransferTable = {
  name: FORMER_TABLE,
  ofWallet: ({ account }) => [`account = ${account}`],
  ofToken: ['token = wanted.address'],
};

const TABLES: Readonly<Record<TablesInUse, readonly TransferTable[]>> = {
  partitioned: [PARTITIONED],
  both: [PARTITIONED, UNPARTITIONED],
};

/**
 * The bounds that a scan is given. Of bounds on both sides the planner expects next to no rows, so only the one where the scan begins is; the
 * other is applied to the rows read: they come in order, and what lies beyond it is last.
 */
function boundsOfScan(near: readonly string[], far: readonly string[]): readonly string[] {
  return near.length === 0 ? far : near;
}

/** The first `limit` transfers in order. */
function transfersOf(scan: Scan, bounds: readonly string[], limit: string, columns: string): string {
  const tail = `ORDER BY ${orderBy('transfer', scan.order)} LIMIT ${limit}`;
  if (scan.tokens !== null) return `SELECT ${columns} FROM ${transfersOfTokens(scan, bounds, limit, columns)} ${tail}`;
  const conditions = [...bounds, isShown(scan, 'transfer', 'token')];
  const parts = scan.tables.map((table) => rangeOf(table, scan, conditions, tail, columns));
  return parts.length === 1 ? parts.join() : `SELECT ${columns} FROM (${unionOf(parts)}) AS transfer ${tail}`;
}

/** The first `limit` transfers of each wanted token, one range scan a token. */
function transfersOfTokens(scan: Scan, bounds: readonly string[], limit: string, columns: string): string {
  const tail = `ORDER BY ${orderBy('transfer', scan.order)} LIMIT ${limit}`;
  const parts = scan.tables.map((table) => rangeOf(table, scan, [...bounds, ...table.ofToken], tail, columns));
  return `(SELECT address FROM unnest(${scan.tokens}::bytea[]) AS given(address) WHERE ${isShown(scan, 'given', 'address')}) AS wanted
    CROSS JOIN LATERAL (${unionOf(parts)}) AS transfer`;
}

function rangeOf(
  table: TransferTable,
  scan: Scan,
  conditions: readonly string[],
  tail: string,
  columns: string,
): string {
  const ofWallet = [...table.ofWallet(scan), `chain_id = ${scan.chainId}`];
  return `SELECT ${columns} FROM ${table.name} AS transfer ${where([...ofWallet, ...conditions])} ${tail}`;
}

function unionOf(parts: readonly string[]): string {
  return parts.length === 1 ? parts.join() : parts.map((part) => `(${part})`).join(' UNION ALL ');
}

/** How many transfers there are, no more than `limit`. Tokens are counted one after the other until it is reached. */
function countOf(scan: Scan, near: readonly string[], far: readonly string[], limit: string): string {
  const bounds = boundsOfScan(near, far);
  const rows =
    scan.tokens === null
      ? `SELECT FROM (${transfersOf(scan, bounds, limit, PLACE_COLUMNS)}) AS row ${where(far)}`
      : `SELECT FROM ${transfersOfTokens(scan, bounds, limit, PLACE_COLUMNS)} ${where(far)} LIMIT ${limit}`;
  return `(SELECT count(*) FROM (${rows}) AS counted)`;
}

const PLACE = ['block_number', 'transaction_index', 'log_index'];
const PLACE_COLUMNS = PLACE.map((column) => `transfer.${column}`).join(', ');
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

/** The blocks of a page's rows, once each. */
export const BLOCKS = packedRows({
  block_number: int8('block_number'),
  block_hash: hex<Hash>('block_hash', 32),
  block_timestamp: moment('block_timestamp'),
});

/** The block alone too: partitions are excluded by it. */
function beyond(order: 'ASC' | 'DESC', key: TransferKey, bind: (value: unknown) => string): readonly string[] {
  const [block, transaction, log] = [key.blockNumber, key.transactionIndex, key.logIndex].map(bind);
  const operator = order === 'DESC' ? '<' : '>';
  return [
    `(${PLACE.join(', ')}) ${operator} (${block}::bigint, ${transaction}, ${log})`,
    `block_number ${operator}= ${block}::bigint`,
  ];
}

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

const NFT_STANDARDS = `'erc721', 'erc1155'`;

/** The wallet's newest block above what is covered, of each table. */
function newestBlocks(scan: Scan): string {
  const above = 'block_number > coalesce((SELECT indexed_to FROM covered), -1)';
  return scan.tables
    .map((table) => `(${rangeOf(table, scan, [above], 'ORDER BY block_number DESC LIMIT 1', 'block_number')})`)
    .join(', ');
}

/** The bytes of {@link BLOCKS}, found in one go: looked up row by row they cost several times as much. Null for none. */
function blocksOf(blocks: string, chainId: string): string {
  return `(SELECT packed_bytes FROM (SELECT ${BLOCKS.select} FROM blocks WHERE chain_id = ${chainId} AND block_number = ANY (ARRAY(${blocks}))) AS found)`;
}

/** What is known of tokens, once each, as JSON: see `TokenEntry`. Null for none. */
function tokensOf(tokens: string, chainId: string): string {
  return `(SELECT json_agg(json_build_array(encode(address, 'hex'), name, symbol, decimals, logo, verified, possible_spam, standard IN (${NFT_STANDARDS})))
    FROM tokens WHERE address = ANY (ARRAY(${tokens})) AND chain_id = ${chainId})`;
}

/**
 * The labels that are known of addresses and of one more, as JSON: see `LabelEntry`. Null for none. Of several of an address the
 * first counts: one made for the chain comes before one for all chains, one that knows the entity before one that does not.
 *
 * They are found in one go, with the address alone: looked up row by row, or for the two chain ids as well, they cost several times as much.
 */
function labelsOf(addresses: string, another: string, chainId: string): string {
  return `(SELECT json_agg(json_build_array(encode(address, 'hex'), label, entity, entity_logo) ORDER BY chain_id = 0, entity IS NULL, source)
    FROM address_labels WHERE address = ANY (ARRAY(${addresses}) || ${another}::bytea) AND ${expectedTrue(`chain_id IN (${chainId}, 0)`)})`;
}

function orderBy(table: string, order: 'ASC' | 'DESC'): string {
  return PLACE.map((column) => `${table}.${column} ${order}`).join(', ');
}

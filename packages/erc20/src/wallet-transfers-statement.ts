import {
  addressBytes,
  boundsInSql,
  expectedTrue,
  hexText,
  inFirstRow,
  numbered,
  type PageBounds,
  packed,
  type Statement,
  utcText,
  where,
} from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { erc20Transfers } from './dataset.ts';

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
 * The statement behind a page, in which every scan of transfers is a range of an index that stops after limit + 1 rows: of the
 * primary key (account, chain, block, transaction, log), or with a token filter of `erc20_transfers_by_token` for each
 * token, merged (get-wallet-token-transfers.explain.test.ts).
 *
 * The planner must not find reading and sorting a whole wallet cheaper, with fresh statistics, old ones, or none. So
 * nothing stands in the scan that makes it expect few rows: the bound where the order ends is applied to the rows read
 * (they come in order, so what lies beyond it is last), and joins are LATERAL with a LIMIT, which can't become hash joins.
 */
export function walletTransfersStatement(chain: Chain, query: WalletTransfersQuery, countMax: number): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const account = bind(addressBytes(query.address));
  const chainId = bind(chain.id);
  const { ctes, lower, upper, complete } = boundsInSql(chain, chainId, erc20Transfers.name, query, bind);
  const [near, far] = query.order === 'DESC' ? [upper, lower] : [lower, upper];
  const scan = {
    account,
    chainId,
    tokens: query.tokens === null ? null : bind(query.tokens.map(addressBytes)),
    order: query.order,
  };
  // The key implies the near bounds. Left in, they would be where the scan begins: a btree starts at one bound, not the tighter.
  const start = query.after === null ? near : [beyond(query.order, query.after, bind)];
  const page = transfersOf(scan, start, bind(query.limit + 1), PAGE_COLUMNS);
  const total = query.count ? countOf(scan, near, far, bind(countMax + 1)) : 'NULL::bigint';
  const newest = `greatest(covered.indexed_to, (SELECT block_number FROM erc20_transfers WHERE account = ${account} AND chain_id = ${chainId} ORDER BY block_number DESC LIMIT 1))`;
  const text = `WITH ${ctes.join(', ')}, page AS MATERIALIZED (${numbered(page, far)})
SELECT ${inFirstRow('covered.indexed_from')} AS indexed_from, ${inFirstRow('covered.indexed_to')} AS indexed_to,
  ${inFirstRow(complete)} AS complete, ${inFirstRow(total)} AS total, ${inFirstRow(newest)} AS newest,
  ${inFirstRow(labelsOf(`SELECT counterparty FROM page UNION SELECT ${account}`, chainId))} AS labels,
  ${SHOWN_COLUMNS}
FROM covered
LEFT JOIN page ON true
ORDER BY page.place`;
  return { text, values };
}

interface Scan {
  readonly account: string;
  readonly chainId: string;
  readonly tokens: string | null;
  readonly order: 'ASC' | 'DESC';
}

/** The first `limit` transfers in order, without those of contracts that turned out to be NFTs. */
function transfersOf(scan: Scan, bounds: readonly string[], limit: string, columns: string): string {
  const tail = `ORDER BY ${orderBy('transfer', scan.order)} LIMIT ${limit}`;
  if (scan.tokens !== null)
    return `SELECT ${columns} FROM ${transfersOfTokens(scan, bounds, limit)} WHERE ${NOT_NFT} ${tail}`;
  return `SELECT ${columns} FROM erc20_transfers AS transfer
    LEFT JOIN LATERAL ${metadataOf('transfer.token', scan.chainId)} AS metadata ON true
    ${where([...walletOf(scan), ...bounds, NOT_NFT])} ${tail}`;
}

/** The first `limit` transfers of each wanted token, one range scan a token. */
function transfersOfTokens(scan: Scan, bounds: readonly string[], limit: string): string {
  return `unnest(${scan.tokens}::bytea[]) AS wanted(address)
    LEFT JOIN LATERAL ${metadataOf('wanted.address', scan.chainId)} AS metadata ON true
    CROSS JOIN LATERAL (
      SELECT * FROM erc20_transfers AS transfer ${where([...walletOf(scan), ...bounds, 'token = wanted.address'])}
      ORDER BY ${orderBy('transfer', scan.order)} LIMIT ${limit}
    ) AS transfer`;
}

function walletOf(scan: Scan): readonly string[] {
  return [`account = ${scan.account}`, `chain_id = ${scan.chainId}`];
}

/** How many transfers there are, no more than `limit`. Tokens are counted one after the other until it is reached. */
function countOf(scan: Scan, near: readonly string[], far: readonly string[], limit: string): string {
  const rows =
    scan.tokens === null
      ? `SELECT * FROM (${transfersOf(scan, near, limit, COUNT_COLUMNS)}) AS row ${where(far)}`
      : `SELECT 1 FROM ${transfersOfTokens(scan, near, limit)} ${where([NOT_NFT, ...far])} LIMIT ${limit}`;
  return `(SELECT count(*) FROM (${rows}) AS counted)`;
}

const COUNT_COLUMNS = 'transfer.block_number, transfer.block_timestamp';

const PAGE_COLUMNS = `transfer.block_number, transfer.transaction_index, transfer.log_index, transfer.direction, transfer.token,
      transfer.counterparty, transfer.value, transfer.transaction_hash, transfer.block_hash, transfer.block_timestamp,
      metadata.name, metadata.symbol, metadata.decimals, metadata.logo, metadata.verified, metadata.possible_spam`;

/** Columns of the page that are never null, in the order in which `transferOf` takes them from a row's text. */
const PACKED_COLUMNS = packed([
  'page.block_number',
  'page.transaction_index',
  'page.log_index',
  'page.direction',
  'page.value',
  utcText('page.block_timestamp'),
  hexText('page.token'),
  hexText('page.counterparty'),
  hexText('page.transaction_hash'),
  hexText('page.block_hash'),
]);

const SHOWN_COLUMNS = `${PACKED_COLUMNS} AS packed,
  page.name, page.symbol, page.decimals, page.logo, page.verified, page.possible_spam`;

/** Not `standard <> …`: see {@link expectedTrue}. */
const NOT_NFT = expectedTrue('metadata.is_nft IS NOT TRUE');

function beyond(order: 'ASC' | 'DESC', key: TransferKey, bind: (value: unknown) => string): string {
  const place = [key.blockNumber, key.transactionIndex, key.logIndex].map(bind).join(', ');
  return `(block_number, transaction_index, log_index) ${order === 'DESC' ? '<' : '>'} (${place})`;
}

function metadataOf(address: string, chainId: string): string {
  return `(SELECT name, symbol, decimals, logo, verified, possible_spam, standard IN ('erc721', 'erc1155') AS is_nft
      FROM tokens WHERE address = ${address} AND chain_id = ${chainId} LIMIT 1)`;
}

/**
 * The labels that are known of addresses, once each, as JSON: `[address, label, entity, entity_logo]`; null for none. One made for
 * the chain comes before one for all chains, one that knows the entity before one that does not.
 *
 * They are found in one go, with the address alone: looked up row by row, or for the two chain ids as well, they cost several times as much.
 */
function labelsOf(addresses: string, chainId: string): string {
  return `(SELECT json_agg(json_build_array(${hexText('address')}, label, entity, entity_logo)) FROM (
    SELECT DISTINCT ON (address) address, label, entity, entity_logo FROM address_labels
    WHERE address = ANY (ARRAY(${addresses})) AND ${expectedTrue(`chain_id IN (${chainId}, 0)`)}
    ORDER BY address, chain_id = 0, entity IS NULL, source) AS best)`;
}

function orderBy(table: string, order: 'ASC' | 'DESC'): string {
  return ['block_number', 'transaction_index', 'log_index'].map((column) => `${table}.${column} ${order}`).join(', ');
}

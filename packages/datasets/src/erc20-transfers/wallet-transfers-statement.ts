import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { erc20Transfers } from './dataset.ts';

/** Where a page ended: the place of its last row in the chain. */
export interface TransferKey {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** What to read. Every bound that is not null applies; blocks and times are inclusive. */
export interface WalletTransfersQuery {
  readonly address: Address;
  readonly order: 'ASC' | 'DESC';
  /** Rows wanted; one more is read to see whether a page follows. */
  readonly limit: number;
  /** Token contracts; null for all. Each costs a range scan of its own. */
  readonly tokens: readonly Address[] | null;
  readonly fromBlock: number | null;
  readonly toBlock: number | null;
  readonly fromDate: Date | null;
  readonly toDate: Date | null;
  /** The newest block at the first request of a run: what arrived later stays out. */
  readonly pinnedBlock: number | null;
  /** Rows strictly beyond this one; null for the first page. */
  readonly after: TransferKey | null;
  /** Count the whole answer too. */
  readonly count: boolean;
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * The statement behind a page.
 *
 * Rows: one range scan of the primary key (account, chain, block, transaction, log), or with a token filter one of
 * `erc20_transfers_by_token` for each token, merged; it stops after limit + 1. Joins of tokens and labels are LATERAL
 * with a LIMIT of their own: the planner can't turn those into hash joins that read everything and sort, so the plan is
 * the same before the first ANALYZE (get-wallet-token-transfers.explain.test.ts).
 *
 * Dates become block bounds by bisecting `blocks` on its key. Blocks without rows are missing there, so the bounds are the
 * nearest known blocks outwards, and each row's own time decides between them.
 */
export function walletTransfersStatement(chain: Chain, query: WalletTransfersQuery, countMax: number): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const account = bind(bytes(query.address));
  const chainId = bind(chain.id);
  const fromDate = query.fromDate === null ? null : bind(query.fromDate);
  const toDate = query.toDate === null ? null : bind(query.toDate);
  const limit = bind(query.limit + 1);
  const tokens = query.tokens === null ? null : bind(query.tokens.map(bytes));
  const bounds = [
    ...(query.fromBlock === null ? [] : [`block_number >= ${bind(query.fromBlock)}`]),
    ...(query.toBlock === null ? [] : [`block_number <= ${bind(query.toBlock)}`]),
    ...(query.pinnedBlock === null ? [] : [`block_number <= ${bind(query.pinnedBlock)}`]),
    ...(fromDate === null ? [] : [`block_number >= (SELECT block FROM from_date)`, `block_timestamp >= ${fromDate}`]),
    ...(toDate === null
      ? []
      : [`block_number <= (SELECT coalesce(block, ${BIGINT_MAX}) FROM to_date)`, `block_timestamp <= ${toDate}`]),
  ];
  const beyond =
    query.after === null
      ? []
      : [
          `(block_number, transaction_index, log_index) ${query.order === 'DESC' ? '<' : '>'} (${bind(query.after.blockNumber)}, ${bind(query.after.transactionIndex)}, ${bind(query.after.logIndex)})`,
        ];
  const scan = { account, chainId, tokens, order: query.order };
  const ctes = [
    ...(fromDate === null ? [] : [fromDateBound(chainId, fromDate)]),
    ...(toDate === null ? [] : [toDateBound(chainId, toDate)]),
    coverage(chainId),
  ];
  const lowest = [
    ...(query.fromBlock === null ? [] : [bind(query.fromBlock)]),
    ...(fromDate === null ? [] : ['(SELECT block FROM from_date)']),
    bind(chain.firstBlock),
  ];
  const highest = [
    ...(query.toBlock === null ? [] : [bind(query.toBlock)]),
    ...(toDate === null ? [] : ['(SELECT block FROM to_date)']),
    ...(query.pinnedBlock === null ? [] : [bind(query.pinnedBlock)]),
    'covered.indexed_to',
  ];
  const total = query.count
    ? `, (SELECT count(*) FROM (${rowsOf(scan, bounds, `LIMIT ${countMax + 1}`, '1')}) AS counted) AS total`
    : '';
  const text = `
WITH RECURSIVE ${ctes.join(',\n')}
SELECT covered.indexed_from, covered.indexed_to, wallet.label AS own_label, wallet.entity AS own_entity, wallet.entity_logo AS own_entity_logo,
  greatest(covered.indexed_to, ${newestRow(account, chainId)}) AS newest,
  ${isComplete(`greatest(${lowest.map(bigint).join(', ')})`, `coalesce(${highest.map(bigint).join(', ')})`)} AS complete${total},
  page.block_number, page.transaction_index, page.log_index, page.direction, ${hex('page.token')} AS token, ${hex('page.counterparty')} AS counterparty,
  page.value, ${hex('page.transaction_hash')} AS transaction_hash, ${hex('page.block_hash')} AS block_hash, page.block_timestamp,
  page.name, page.symbol, page.decimals, page.logo, page.verified, page.possible_spam,
  other.label, other.entity, other.entity_logo
FROM covered
LEFT JOIN LATERAL ${bestLabel(account, chainId)} AS wallet ON true
LEFT JOIN (${rowsOf(scan, [...bounds, ...beyond], `LIMIT ${limit}`, PAGE_COLUMNS)}) AS page ON true
LEFT JOIN LATERAL ${bestLabel('page.counterparty', chainId)} AS other ON true
ORDER BY ${orderBy('page', query.order)}`;
  return { text, values };
}

interface Scan {
  readonly account: string;
  readonly chainId: string;
  readonly tokens: string | null;
  readonly order: 'ASC' | 'DESC';
}

/** Transfers with their tokens' facts, in order, without those of contracts that turned out to be NFTs. */
function rowsOf(scan: Scan, conditions: readonly string[], limit: string, columns: string): string {
  const where = [`account = ${scan.account}`, `chain_id = ${scan.chainId}`, ...conditions].join(' AND ');
  const tail = `ORDER BY ${orderBy('transfer', scan.order)} ${limit}`;
  if (scan.tokens === null)
    return `SELECT ${columns} FROM erc20_transfers AS transfer
      LEFT JOIN LATERAL ${factsOf('transfer.token', scan.chainId)} AS facts ON true
      WHERE ${where} AND ${NOT_NFT} ${tail}`;
  return `SELECT ${columns} FROM unnest(${scan.tokens}::bytea[]) AS wanted(address)
    LEFT JOIN LATERAL ${factsOf('wanted.address', scan.chainId)} AS facts ON true
    CROSS JOIN LATERAL (
      SELECT * FROM erc20_transfers AS transfer WHERE ${where} AND token = wanted.address ${tail}
    ) AS transfer
    WHERE ${NOT_NFT} ${tail}`;
}

const PAGE_COLUMNS = `transfer.block_number, transfer.transaction_index, transfer.log_index, transfer.direction, transfer.token, transfer.counterparty, transfer.value,
      transfer.transaction_hash, transfer.block_hash, transfer.block_timestamp, facts.name, facts.symbol, facts.decimals, facts.logo, facts.verified, facts.possible_spam`;

const NOT_NFT = `facts.standard IS DISTINCT FROM 'erc721' AND facts.standard IS DISTINCT FROM 'erc1155'`;

const BIGINT_MAX = '9223372036854775807';

function factsOf(address: string, chainId: string): string {
  return `(SELECT name, symbol, decimals, standard, logo, verified, possible_spam FROM tokens WHERE address = ${address} AND chain_id = ${chainId} LIMIT 1)`;
}

/** A label made for the chain before one for all chains, one that knows the entity before one that does not. */
function bestLabel(address: string, chainId: string): string {
  return `(SELECT label, entity, entity_logo FROM address_labels WHERE address = ${address} AND chain_id IN (${chainId}, 0)
    ORDER BY chain_id = 0, entity IS NULL, source LIMIT 1)`;
}

/** `covered`: one row, the unbroken run of covered blocks that ends with the newest (nulls when nothing is covered). */
function coverage(chainId: string): string {
  return `ranges AS (
    SELECT first_block, last_block, lag(last_block) OVER (ORDER BY first_block) AS previous_last
    FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = '${erc20Transfers.name}'
  ),
  covered AS MATERIALIZED (
    SELECT max(first_block) FILTER (WHERE previous_last IS NULL OR previous_last < first_block - 1) AS indexed_from,
      max(last_block) AS indexed_to FROM ranges
  )`;
}

/** Ranges never overlap, so a span is covered exactly when the covered parts add up to its length. */
function isComplete(lowest: string, highest: string): string {
  return `coalesce((
    SELECT span.highest >= span.lowest AND span.highest - span.lowest + 1 = (
      SELECT sum(least(last_block, span.highest) - greatest(first_block, span.lowest) + 1) FROM ranges
      WHERE last_block >= span.lowest AND first_block <= span.highest)
    FROM (SELECT ${lowest} AS lowest, ${highest} AS highest) AS span), false)`;
}

function newestRow(account: string, chainId: string): string {
  return `(SELECT block_number FROM erc20_transfers WHERE account = ${account} AND chain_id = ${chainId} ORDER BY block_number DESC LIMIT 1)`;
}

/** `from_date.block`: every block below it is known to be earlier than the date. */
function fromDateBound(chainId: string, date: string): string {
  return `${bisection('from_date_steps', chainId, `probe.block_timestamp < ${date}`)},
  from_date AS MATERIALIZED (SELECT max(low) AS block FROM from_date_steps)`;
}

/** `to_date.block`: every block above it is known to be later than the date; null when no known block is. */
function toDateBound(chainId: string, date: string): string {
  return `${bisection('to_date_steps', chainId, `probe.block_timestamp <= ${date}`)},
  to_date AS MATERIALIZED (
    SELECT (SELECT block_number - 1 FROM blocks WHERE chain_id = ${chainId} AND block_number >= (SELECT max(low) FROM to_date_steps)
      ORDER BY block_number LIMIT 1) AS block
  )`;
}

/**
 * Halves [low, high) until low is the block after the last known one for which `isBelow` holds. Block times never fall
 * with the number; each step is one probe of the primary key, log2(newest block) of them.
 */
function bisection(name: string, chainId: string, isBelow: string): string {
  return `${name}(low, high) AS (
    SELECT 0::bigint, coalesce((SELECT block_number + 1 FROM blocks WHERE chain_id = ${chainId} ORDER BY block_number DESC LIMIT 1), 0)
    UNION ALL
    SELECT CASE WHEN ${isBelow} THEN probe.block_number + 1 ELSE step.low END,
      CASE WHEN ${isBelow} THEN step.high ELSE (step.low + step.high) / 2 END
    FROM ${name} AS step CROSS JOIN LATERAL (
      SELECT block_number, block_timestamp FROM blocks WHERE chain_id = ${chainId} AND block_number >= (step.low + step.high) / 2
      ORDER BY block_number LIMIT 1
    ) AS probe
    WHERE step.low < step.high
  )`;
}

function orderBy(table: string, order: 'ASC' | 'DESC'): string {
  return ['block_number', 'transaction_index', 'log_index'].map((column) => `${table}.${column} ${order}`).join(', ');
}

function hex(column: string): string {
  return `'0x' || encode(${column}, 'hex')`;
}

function bigint(expression: string): string {
  return `${expression}::bigint`;
}

function bytes(address: Address): Buffer {
  return Buffer.from(address.slice(2), 'hex');
}

import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { coverage, fromDateBound, isComplete, toDateBound } from '../indexed-blocks/block-span.ts';
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
  const account = bind(bytes(query.address));
  const chainId = bind(chain.id);
  const fromDate = query.fromDate === null ? null : bind(query.fromDate);
  const toDate = query.toDate === null ? null : bind(query.toDate);
  const fromBlock = query.fromBlock === null ? null : bind(query.fromBlock);
  const toBlock = query.toBlock === null ? null : bind(query.toBlock);
  const pinned = query.pinnedBlock === null ? null : bind(query.pinnedBlock);
  const lower = [
    ...(fromBlock === null ? [] : [`block_number >= ${fromBlock}`]),
    ...(fromDate === null ? [] : ['block_number >= (SELECT block FROM from_date)', timeTest('>=', fromDate)]),
  ];
  const upper = [
    ...(toBlock === null ? [] : [`block_number <= ${toBlock}`]),
    ...(pinned === null ? [] : [`block_number <= ${pinned}`]),
    ...(toDate === null ? [] : [`block_number <= (SELECT block FROM to_date)`, timeTest('<=', toDate)]),
  ];
  const [near, far] = query.order === 'DESC' ? [upper, lower] : [lower, upper];
  const scan = {
    account,
    chainId,
    tokens: query.tokens === null ? null : bind(query.tokens.map(bytes)),
    order: query.order,
  };
  // The key implies the near bounds. Left in, they would be where the scan begins: a btree starts at one bound, not the tighter.
  const start = query.after === null ? near : [beyond(query.order, query.after, bind)];
  const page = transfersOf(scan, start, bind(query.limit + 1), PAGE_COLUMNS);
  // A block number that was asked for counts as asked; a date, a pin and the lack of any end at what there was to know.
  const span = {
    lowest: `greatest(${listed([fromBlock, fromDate && '(SELECT known_block FROM from_date)', bind(chain.firstBlock)])})`,
    highest: `coalesce(${listed([toBlock, `least(${listed([toDate && '(SELECT known_block FROM to_date)', pinned, 'NULL'])})`, 'covered.indexed_to'])})`,
  };
  const ctes = [
    ...(fromDate === null ? [] : [fromDateBound(chainId, fromDate)]),
    ...(toDate === null ? [] : [toDateBound(chainId, toDate)]),
    coverage(chainId, `'${erc20Transfers.name}'`),
  ];
  const total = query.count ? countOf(scan, near, far, countMax + 1) : 'NULL::bigint';
  const text = `WITH ${ctes.join(', ')}
SELECT covered.indexed_from, covered.indexed_to, ${isComplete(span)} AS complete, ${total} AS total,
  greatest(covered.indexed_to, (SELECT block_number FROM erc20_transfers WHERE account = ${account} AND chain_id = ${chainId} ORDER BY block_number DESC LIMIT 1)) AS newest,
  wallet.label AS own_label, wallet.entity AS own_entity, wallet.entity_logo AS own_entity_logo,
  ${SHOWN_COLUMNS}
FROM covered
LEFT JOIN LATERAL ${bestLabel(account, chainId)} AS wallet ON true
LEFT JOIN (SELECT * FROM (${page}) AS row ${where(far)}) AS page ON true
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

/** The first `limit` transfers in order, without those of contracts that turned out to be NFTs. */
function transfersOf(scan: Scan, bounds: readonly string[], limit: string, columns: string): string {
  const tail = `ORDER BY ${orderBy('transfer', scan.order)} LIMIT ${limit}`;
  if (scan.tokens !== null)
    return `SELECT ${columns} FROM ${transfersOfTokens(scan, bounds, limit)} WHERE ${NOT_NFT} ${tail}`;
  return `SELECT ${columns} FROM erc20_transfers AS transfer
    LEFT JOIN LATERAL ${factsOf('transfer.token', scan.chainId)} AS facts ON true
    ${where([...walletOf(scan), ...bounds, NOT_NFT])} ${tail}`;
}

/** The first `limit` transfers of each wanted token, one range scan a token. */
function transfersOfTokens(scan: Scan, bounds: readonly string[], limit: string): string {
  return `unnest(${scan.tokens}::bytea[]) AS wanted(address)
    LEFT JOIN LATERAL ${factsOf('wanted.address', scan.chainId)} AS facts ON true
    CROSS JOIN LATERAL (
      SELECT * FROM erc20_transfers AS transfer ${where([...walletOf(scan), ...bounds, 'token = wanted.address'])}
      ORDER BY ${orderBy('transfer', scan.order)} LIMIT ${limit}
    ) AS transfer`;
}

function walletOf(scan: Scan): readonly string[] {
  return [`account = ${scan.account}`, `chain_id = ${scan.chainId}`];
}

/** How many transfers there are, no more than `limit`. Tokens are counted one after the other until it is reached. */
function countOf(scan: Scan, near: readonly string[], far: readonly string[], limit: number): string {
  const rows =
    scan.tokens === null
      ? `SELECT * FROM (${transfersOf(scan, near, String(limit), COUNT_COLUMNS)}) AS row ${where(far)}`
      : `SELECT 1 FROM ${transfersOfTokens(scan, near, String(limit))} ${where([NOT_NFT, ...far])} LIMIT ${limit}`;
  return `(SELECT count(*) FROM (${rows}) AS counted)`;
}

const COUNT_COLUMNS = 'transfer.block_number, transfer.block_timestamp';

const PAGE_COLUMNS = `transfer.block_number, transfer.transaction_index, transfer.log_index, transfer.direction, transfer.token,
      transfer.counterparty, transfer.value, transfer.transaction_hash, transfer.block_hash, transfer.block_timestamp,
      facts.name, facts.symbol, facts.decimals, facts.logo, facts.verified, facts.possible_spam`;

const SHOWN_COLUMNS = `page.block_number, page.transaction_index, page.log_index, page.direction, page.value, page.block_timestamp,
  ${hex('page.token')} AS token, ${hex('page.counterparty')} AS counterparty, ${hex('page.transaction_hash')} AS transaction_hash, ${hex('page.block_hash')} AS block_hash,
  page.name, page.symbol, page.decimals, page.logo, page.verified, page.possible_spam, other.label, other.entity, other.entity_logo`;

/** Not `standard <> …`: see {@link expectedTrue}. */
const NOT_NFT = expectedTrue('facts.is_nft IS NOT TRUE');

function timeTest(operator: '<=' | '>=', date: string): string {
  return expectedTrue(`block_timestamp ${operator} ${date}`);
}

/** The condition, written so that the planner expects it of nearly every row (0.995) whatever statistics say. */
function expectedTrue(condition: string): string {
  return `(CASE WHEN ${condition} THEN true END) IS NOT NULL`;
}

function beyond(order: 'ASC' | 'DESC', key: TransferKey, bind: (value: unknown) => string): string {
  const place = [key.blockNumber, key.transactionIndex, key.logIndex].map(bind).join(', ');
  return `(block_number, transaction_index, log_index) ${order === 'DESC' ? '<' : '>'} (${place})`;
}

function factsOf(address: string, chainId: string): string {
  return `(SELECT name, symbol, decimals, logo, verified, possible_spam, standard IN ('erc721', 'erc1155') AS is_nft
      FROM tokens WHERE address = ${address} AND chain_id = ${chainId} LIMIT 1)`;
}

/** A label made for the chain before one for all chains, one that knows the entity before one that does not. */
function bestLabel(address: string, chainId: string): string {
  return `(SELECT label, entity, entity_logo FROM address_labels WHERE address = ${address} AND chain_id IN (${chainId}, 0)
  ORDER BY chain_id = 0, entity IS NULL, source LIMIT 1)`;
}

function listed(blocks: readonly (string | null)[]): string {
  return blocks.flatMap((block) => (block === null ? [] : [`${block}::bigint`])).join(', ');
}

function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

function orderBy(table: string, order: 'ASC' | 'DESC'): string {
  return ['block_number', 'transaction_index', 'log_index'].map((column) => `${table}.${column} ${order}`).join(', ');
}

function hex(column: string): string {
  return `'0x' || encode(${column}, 'hex')`;
}

function bytes(address: Address): Buffer {
  return Buffer.from(address.slice(2), 'hex');
}

import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  addressBytes,
  type Bind,
  expectedTrueOld,
  rowsAfterInPartitionsOld,
  type Statement,
  whereOld,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { hex, hexOrNull, int4, packedRows, text } from '@chainstead/db/packed-rows';
import { formsOf, isTradeInSql } from '@chainstead/markets';

/** The swaps to read: of a wallet as sender or beneficiary, or of a token in all proven pools. */
export type TradesSubject =
  | { readonly kind: 'wallet'; readonly wallet: Address }
  | { readonly kind: 'token'; readonly token: Address };

/** Position of a swap in its chain: block, transaction and log. */
export type TradePosition = readonly [number, number, number];

export interface TradesQuery {
  readonly subject: TradesSubject;
  /** The last swap of the part before; null: the first part. */
  readonly after: TradePosition | null;
  /** Swaps of earlier and later blocks are left out. */
  readonly firstBlock: number;
  readonly lastBlock: number;
  /** Number of swaps. */
  readonly limit: number;
}

const SWAP = {
  block: int4('block_number'),
  /** Unix seconds; -1: the block is missing. */
  time: int4('time'),
  /** Number of the pool in the part. */
  pool: int4('pool_number'),
  /** Base units into the pool; negative out of it. */
  amount0: text('amount0::text'),
  amount1: text('amount1::text'),
};
const PARTIES = { wallet: hex<Address>('wallet', 20), beneficiary: hexOrNull<Address>('beneficiary', 20) };

/** The swaps of a part. A row of a wallet has no parties: it is one of them. */
export const WALLET_SWAPS = packedRows(SWAP);
export const TOKEN_SWAPS = packedRows({ ...SWAP, ...PARTIES });

/** Number, tokens as hexadecimal digits, whether it is proven and counted, whether it may have a proof later. */
export type PoolEntry = readonly [number, string | null, string | null, boolean, boolean];

/**
 * Returns the statement of the next swaps of a subject, oldest first. Each scan is a range of one index that stops after `limit` rows:
 * `swaps_by_wallet` and `swaps_by_beneficiary`, or `trades_by_token0` and `trades_by_token1` (trades-statement.explain.test.ts). Pools are
 * joined once per part, not per swap.
 * @param isSpread whether tables are distributed
 */
export function tradesStatement(
  chain: Chain,
  query: TradesQuery,
  { select }: { readonly select: string },
  isSpread: boolean,
): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const scan = { ...query, chain, chainId, bind, isSpread, direction: 'ASC' } as const;
  const pool = 'pool_key = pair.pool_key AND known.pool = pair.pool';
  return {
    text: `WITH ${foundSwaps(scan)},
pair AS MATERIALIZED (SELECT DISTINCT pool_key, pool, token0, token1 FROM found),
known AS MATERIALIZED (SELECT known.pool_key, known.pool, known.token0, known.token1, known.status, known.is_counted
  FROM (SELECT DISTINCT pool_key, pool FROM pair) AS pair ${joinOne('pools', 'known', `known.chain_id = ${chainId} AND known.${pool}`, isSpread)}),
numbered AS MATERIALIZED (SELECT (row_number() OVER ())::int4 AS pool_number, pair.*, known.status, known.is_counted,
  coalesce(known.token0, pair.token0) AS first, coalesce(known.token1, pair.token1) AS second
  FROM pair LEFT JOIN known ON known.${pool}),
listed AS (SELECT found.*, numbered.pool_number, coalesce(extract(epoch FROM block.block_timestamp)::int4, -1) AS time
  FROM found JOIN numbered ON numbered.pool_key = found.pool_key AND numbered.pool = found.pool
    AND numbered.token0 IS NOT DISTINCT FROM found.token0 AND numbered.token1 IS NOT DISTINCT FROM found.token1
    AND numbered.status = 'proven' AND numbered.is_counted
  LEFT JOIN blocks AS block ON block.chain_id = ${chainId} AND block.block_number = found.block_number
  ORDER BY ${order('found.')})
SELECT (SELECT count(*)::int4 FROM found) AS count,
  (SELECT json_build_array(block_number, transaction_index, log_index) FROM found ORDER BY ${order('', 'DESC')} LIMIT 1) AS last,
  (SELECT json_agg(json_build_array(pool_number, encode(first, 'hex'), encode(second, 'hex'), coalesce(status = 'proven' AND is_counted, false),
    coalesce(status = 'unproven', true))) FROM numbered) AS pools, ${select}
FROM listed`,
    values,
  };
}

/** Returns the statement of the block of the subject's `tradesMax`-th newest swap or trade; no row if it has fewer. */
export function cutStatement(chain: Chain, subject: TradesSubject, lastBlock: number, tradesMax: number): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const scan: Scan = {
    ...{ subject, after: null, firstBlock: 0, lastBlock, limit: tradesMax },
    ...{ chain, chainId: `${bind(chain.id)}::bigint`, bind, isSpread: false, direction: 'DESC' },
  };
  const until = [`block_number <= ${bind(lastBlock)}::bigint`];
  const newest =
    subject.kind === 'wallet' ? walletRanges(scan, subject.wallet, until) : tokenRanges(scan, subject.token, until);
  return {
    text: `SELECT block_number FROM (${newest}) AS newest ORDER BY ${order('', 'DESC')} OFFSET ${bind(tradesMax)} - 1 LIMIT 1`,
    values,
  };
}

interface Scan extends TradesQuery {
  readonly chain: Chain;
  readonly chainId: string;
  readonly bind: Bind;
  readonly isSpread: boolean;
  readonly direction: 'ASC' | 'DESC';
}

const COLUMNS = ['pool_key', 'pool', 'block_number', 'transaction_index', 'log_index', 'token0', 'token1'];
const AMOUNTS = ['amount0', 'amount1'];

/** CTE `found`: the first `limit` swaps of all ranges. A scan gets bounds on one side only; the far one is tested afterwards. */
function foundSwaps(scan: Scan): string {
  const { subject, after, firstBlock, lastBlock, limit, bind, chainId, isSpread } = scan;
  const start =
    after === null
      ? [`block_number >= ${bind(firstBlock)}::bigint`]
      : rowsAfterInPartitionsOld('ASC', POSITION, [`${bind(after[0])}::bigint`, bind(after[1]), bind(after[2])]);
  const isInRun = `block_number <= ${bind(lastBlock)}::bigint`;
  const first = (ranges: string) =>
    `SELECT * FROM (SELECT * FROM (${ranges}) AS listed ORDER BY ${order('')} LIMIT ${bind(limit)}) AS first WHERE ${isInRun}`;
  if (subject.kind === 'wallet') return `found AS MATERIALIZED (${first(walletRanges(scan, subject.wallet, start))})`;
  const isSwap = `swap.pool_key = trade.pool_key AND swap.chain_id = ${chainId} AND swap.block_number = trade.block_number
    AND swap.transaction_index = trade.transaction_index AND swap.log_index = trade.log_index`;
  const columns = [...COLUMNS, ...AMOUNTS, ...Object.keys(PARTIES)].map((column) => `swap.${column}`).join(', ');
  return `trade AS MATERIALIZED (${first(tokenRanges(scan, subject.token, start))}),
found AS MATERIALIZED (SELECT ${columns} FROM trade ${joinOne('swaps', 'swap', isSwap, isSpread)})`;
}

/** A swap with the wallet in both roles is only in the first range. */
function walletRanges({ chainId, limit, bind, direction }: Scan, wallet: Address, start: readonly string[]): string {
  const [key, bytes] = [`${bind(addressKey(wallet))}::bigint`, `${bind(addressBytes(wallet))}::bytea`];
  const range = (side: string, isOnlyHere: string) => {
    const isOf = expectedTrueOld(`${side} = ${bytes} AND ${isTradeInSql()}${isOnlyHere}`);
    const conditions = [`address_key(${side}) = ${key}`, `chain_id = ${chainId}`, ...start, isOf];
    return `(SELECT ${[...COLUMNS, ...AMOUNTS].join(', ')} FROM swaps ${whereOld(conditions)} ORDER BY ${order('', direction)} LIMIT ${bind(limit)})`;
  };
  return [range('wallet', ''), range('beneficiary', ` AND wallet <> ${bytes}`)].join(' UNION ALL ');
}

/** A trade between two forms of the token is in two ranges, and counts once. */
function tokenRanges(
  { chain, chainId, limit, bind, direction }: Scan,
  token: Address,
  start: readonly string[],
): string {
  const ranges = formsOf(token, chain).flatMap((form) =>
    ['token0', 'token1'].map((side) => {
      const conditions = [`${side}_key = ${bind(addressKey(form))}::bigint`, `chain_id = ${chainId}`, ...start];
      return `(SELECT pool_key, block_number, transaction_index, log_index FROM trades ${whereOld(conditions)}
        ORDER BY ${order('', direction)} LIMIT ${bind(limit)})`;
    }),
  );
  return ranges.join(' UNION ');
}

/** Joins the only row of a table that meets the conditions, by its key. Citus refuses a limit in a correlated subquery. */
function joinOne(table: string, name: string, condition: string, isSpread: boolean): string {
  return isSpread
    ? `JOIN ${table} AS ${name} ON ${condition}`
    : `CROSS JOIN LATERAL (SELECT * FROM ${table} AS ${name} WHERE ${condition} LIMIT 1) AS ${name}`;
}

const POSITION = ['block_number', 'transaction_index', 'log_index'];

function order(relation: string, direction: 'ASC' | 'DESC' = 'ASC'): string {
  return POSITION.map((column) => `${relation}${column} ${direction}`).join(', ');
}

import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  addressBytes,
  asSql,
  expectedTrue,
  joinSql,
  type KeysetOrder,
  rawSql,
  rowsAfterInPartitions,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { hex, hexOrNull, int4, packedRows, text } from '@chainstead/db/packed-rows';
import { formsOf, isTrade } from '@chainstead/markets/requests';

export type TradesSubject =
  | { readonly kind: 'wallet'; readonly wallet: Address }
  | { readonly kind: 'token'; readonly token: Address };

export type TradePosition = readonly [number, number, number];

export interface TradesQuery {
  readonly subject: TradesSubject;
  /** Null: the first part. */
  readonly after: TradePosition | null;
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly limit: number;
}

const SWAP = {
  block: int4('block_number'),
  /** Unix seconds; -1: the block is missing. */
  time: int4('time'),
  transaction: int4('transaction_index'),
  pool: int4('pool_number'),
  /** Base units into the pool; negative: out. */
  amount0: text('amount0::text'),
  amount1: text('amount1::text'),
};
const PARTIES = { wallet: hex<Address>('wallet', 20), beneficiary: hexOrNull<Address>('beneficiary', 20) };

export const WALLET_SWAPS = packedRows(SWAP);
export const TOKEN_SWAPS = packedRows({ ...SWAP, ...PARTIES });

/** Number, tokens in hexadecimal, is it proven and counted, may it have a proof later, its key in hexadecimal. */
export type PoolEntry = readonly [number, string | null, string | null, boolean, boolean, string];

/** Scans are index ranges that stop after `limit` rows (trades-statement.explain.test.ts). */
export function tradesStatement(
  chain: Chain,
  query: TradesQuery,
  { select }: { readonly select: Sql },
  isSpread: boolean,
): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const scan = { ...query, chain, chainId, isSpread, direction: 'ASC' } as const;
  const pool = sql`pool_key = pair.pool_key AND known.pool = pair.pool`;
  return sql`WITH ${foundSwaps(scan)},
pair AS MATERIALIZED (SELECT DISTINCT pool_key, pool, token0, token1 FROM found),
known AS MATERIALIZED (SELECT known.pool_key, known.pool, known.token0, known.token1, known.status, known.is_counted
  FROM (SELECT DISTINCT pool_key, pool FROM pair) AS pair ${joinOne(sql`pools`, sql`known`, sql`known.chain_id = ${chainId} AND known.${pool}`, isSpread)}),
numbered AS MATERIALIZED (SELECT (row_number() OVER ())::int4 AS pool_number, pair.*, known.status, known.is_counted,
  coalesce(known.token0, pair.token0) AS first, coalesce(known.token1, pair.token1) AS second
  FROM pair LEFT JOIN known ON known.${pool}),
listed AS (SELECT found.*, numbered.pool_number, coalesce(extract(epoch FROM block.block_timestamp)::int4, -1) AS time
  FROM found JOIN numbered ON numbered.pool_key = found.pool_key AND numbered.pool = found.pool
    AND numbered.token0 IS NOT DISTINCT FROM found.token0 AND numbered.token1 IS NOT DISTINCT FROM found.token1
    AND numbered.status = 'proven' AND numbered.is_counted
  LEFT JOIN blocks AS block ON block.chain_id = ${chainId} AND block.block_number = found.block_number
  ORDER BY ${order('ASC', 'found.')})
SELECT (SELECT count(*)::int4 FROM found) AS count,
  (SELECT json_build_array(block_number, transaction_index, log_index) FROM found ORDER BY ${order('DESC')} LIMIT 1) AS last,
  (SELECT json_agg(json_build_array(pool_number, encode(first, 'hex'), encode(second, 'hex'), coalesce(status = 'proven' AND is_counted, false),
    coalesce(status = 'unproven', true), encode(pool, 'hex'))) FROM numbered) AS pools, ${select}
FROM listed`;
}

export function cutStatement(chain: Chain, subject: TradesSubject, lastBlock: number, tradesMax: number): Sql {
  const scan: Scan = {
    ...{ subject, after: null, firstBlock: 0, lastBlock, limit: tradesMax },
    ...{ chain, chainId: sql`${chain.id}::bigint`, isSpread: false, direction: 'DESC' },
  };
  const until = [sql`block_number <= ${lastBlock}::bigint`];
  const newest =
    subject.kind === 'wallet'
      ? walletRanges(scan, subject.wallet, until)
      : tokenRanges(scan, subject.token, until);
  return sql`SELECT block_number FROM (${newest}) AS newest ORDER BY ${order('DESC')} OFFSET ${tradesMax} - 1 LIMIT 1`;
}

interface Scan extends TradesQuery {
  readonly chain: Chain;
  readonly chainId: Sql;
  readonly isSpread: boolean;
  readonly direction: KeysetOrder;
}

const COLUMNS = ['pool_key', 'pool', 'block_number', 'transaction_index', 'log_index', 'token0', 'token1'];
const AMOUNTS = ['amount0', 'amount1'];

/** CTE `found`. A scan is bounded on one side only; the far bound is tested afterwards. */
function foundSwaps(scan: Scan): Sql {
  const { subject, after, firstBlock, lastBlock, limit, chainId, isSpread } = scan;
  const start =
    after === null
      ? [sql`block_number >= ${firstBlock}::bigint`]
      : rowsAfterInPartitions('ASC', POSITION, [sql`${after[0]}::bigint`, sql`${after[1]}`, sql`${after[2]}`]);
  const isInRun = sql`block_number <= ${lastBlock}::bigint`;
  const first = (ranges: Sql) =>
    sql`SELECT * FROM (SELECT * FROM (${ranges}) AS listed ORDER BY ${order()} LIMIT ${limit}) AS first WHERE ${isInRun}`;
  if (subject.kind === 'wallet')
    return sql`found AS MATERIALIZED (${first(walletRanges(scan, subject.wallet, start))})`;
  const isSwap = sql`swap.pool_key = trade.pool_key AND swap.chain_id = ${chainId} AND swap.block_number = trade.block_number
    AND swap.transaction_index = trade.transaction_index AND swap.log_index = trade.log_index`;
  const columns = joinSql(
    [...COLUMNS, ...AMOUNTS, ...Object.keys(PARTIES)].map((column) => rawSql(`swap.${column}`)),
  );
  return sql`trade AS MATERIALIZED (${first(tokenRanges(scan, subject.token, start))}),
found AS MATERIALIZED (SELECT ${columns} FROM trade ${joinOne(sql`swaps`, sql`swap`, isSwap, isSpread)})`;
}

function walletRanges({ chainId, limit, direction }: Scan, wallet: Address, start: readonly Sql[]): Sql {
  const [key, bytes] = [sql`${addressKey(wallet)}::bigint`, sql`${addressBytes(wallet)}::bytea`];
  const range = (side: Sql, isOnlyHere: Sql) => {
    const isOf = expectedTrue(sql`${side} = ${bytes} AND ${isTrade()}${isOnlyHere}`);
    const conditions = [sql`address_key(${side}) = ${key}`, sql`chain_id = ${chainId}`, ...start, isOf];
    return sql`(SELECT ${joinSql([...COLUMNS, ...AMOUNTS].map(asSql))} FROM swaps ${where(conditions)} ORDER BY ${order(direction)} LIMIT ${limit})`;
  };
  return joinSql(
    [range(sql`wallet`, rawSql('')), range(sql`beneficiary`, sql` AND wallet <> ${bytes}`)],
    ' UNION ALL ',
  );
}

/** A trade between two forms of the token is in two ranges, but counts once. */
function tokenRanges({ chain, chainId, limit, direction }: Scan, token: Address, start: readonly Sql[]): Sql {
  const ranges = formsOf(token, chain).flatMap((form) =>
    [sql`token0`, sql`token1`].map((side) => {
      const conditions = [sql`${side}_key = ${addressKey(form)}::bigint`, sql`chain_id = ${chainId}`, ...start];
      return sql`(SELECT pool_key, block_number, transaction_index, log_index FROM trades ${where(conditions)}
        ORDER BY ${order(direction)} LIMIT ${limit})`;
    }),
  );
  return joinSql(ranges, ' UNION ');
}

/** Citus refuses a limit in a correlated subquery. */
function joinOne(table: Sql, name: Sql, condition: Sql, isSpread: boolean): Sql {
  return isSpread
    ? sql`JOIN ${table} AS ${name} ON ${condition}`
    : sql`CROSS JOIN LATERAL (SELECT * FROM ${table} AS ${name} WHERE ${condition} LIMIT 1) AS ${name}`;
}

const POSITION = ['block_number', 'transaction_index', 'log_index'] as const;

function order(direction: KeysetOrder = 'ASC', relation = ''): Sql {
  return rawSql(POSITION.map((column) => `${relation}${column} ${direction}`).join(', '));
}

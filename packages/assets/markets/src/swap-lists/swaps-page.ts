import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, ZERO_ADDRESS } from '@chainstead/core';
import {
  addressBytes,
  expectedTrue,
  hexBytes,
  joinSql,
  type KeysetOrder,
  rawSql,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { hex, hexOrNull, int4, int8, packedRows, type RowOf, text, textOrNull } from '@chainstead/db/packed-rows';
import {
  type ChainQuery,
  chainPage,
  chainRange,
  LOG_COLUMNS_ORDER,
  type LogColumnsPosition,
  newestOfRun,
  type SubjectRows,
  traderSubject,
} from '@chainstead/pages';
import { type PackedTokens, readTokens, tokenBook, tokensOf } from '@chainstead/tokens/token-book';
import {
  ANCHOR_KINDS,
  type Anchors,
  anchorsOf,
  nativeTokenOf,
  wrappedNativeOf,
} from '../anchors/anchors-of-chain.ts';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { isSold0, isTrade } from '../trades/trades-projection.ts';

export type SwapsSubject =
  | { readonly kind: 'pair'; readonly pool: PoolId }
  | { readonly kind: 'token'; readonly token: Address }
  /** Sender or beneficiary. `token` null: all tokens. */
  | { readonly kind: 'wallet'; readonly wallet: Address; readonly token: Address | null };

export const TRANSACTION_TYPES = ['buy', 'sell', 'addLiquidity', 'removeLiquidity'] as const;
export type SwapTransactionType = (typeof TRANSACTION_TYPES)[number];

export interface SwapsQuery extends ChainQuery<LogColumnsPosition> {
  readonly subject: SwapsSubject;
  readonly types: readonly SwapTransactionType[];
}

export const SWAPS_DATASET = 'swaps';

export type SwapColumns = RowOf<typeof SWAPS>;

const SWAPS = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  kind: int4('kind'),
  wallet: hex<Address>('wallet', 20),
  beneficiary: hexOrNull<Address>('beneficiary', 20),
  token0: hexOrNull<Address>('token0', 20),
  token1: hexOrNull<Address>('token1', 20),
  transaction_hash: hex<Hash>('transaction_hash', 32),
  factory: hexOrNull<Address>('factory', 20),
  pool: text("'0x' || encode(pool, 'hex')"),
  exchange: textOrNull('exchange'),
  amount0: textOrNull('amount0::text'),
  amount1: textOrNull('amount1::text'),
});

/**
 * Scans are index ranges that stop after limit + 1 rows (swaps-page.explain.test.ts).
 * @param isSpread tables are distributed
 */
export function swapsPage(chain: Chain, query: SwapsQuery, isSpread = false) {
  const chainId = sql`${chain.id}::bigint`;
  const { subject, order } = query;
  const of = subject.kind === 'wallet' ? traderSubject(subject.wallet, SWAPS_DATASET, chainId) : SWAPS_DATASET;
  const range = chainRange(chain, of, query, LOG_COLUMNS_ORDER);
  const end = order === 'DESC' ? range.lowest : range.highest;
  const scan = { chain, chainId, bounds: range.scan, end, order, limit: sql`${query.limit + 1}`, isSpread };
  const ranges = rangesOf(subject, chain, chainId);
  const undecided = undecidedPools(query, scan);
  const isDecided = undecided === null ? rawSql('') : sql` AND NOT EXISTS (SELECT FROM undecided)`;
  const tokens = tokensOf(sql`SELECT token0 FROM page UNION SELECT token1 FROM page`, chainId);
  return chainPage({
    ...{ chain, query, order: LOG_COLUMNS_ORDER, rows: SWAPS },
    newest: newestOfRun(query.order, ranges),
    range: { ...range, complete: sql`(${range.complete}${isDecided})` },
    scan: rowsOf(query, ranges, scan),
    ctes: undecided === null ? [] : [sql`undecided AS MATERIALIZED (${undecided})`],
    related: {
      tokenOf: {
        column: tokens,
        read: (packed: PackedTokens) => tokenBook(readTokens(packed), nativeTokenOf(chain)),
      },
    },
  });
}

/** A row if a pool of the token may have no proof yet, by the guess or without one. */
export function undecidedPoolsOf(token: Address, chain: Chain, chainId: Sql): Sql {
  const keys = formsOf(token, chain).map((form) => sql`= ${addressKey(form)}::bigint`);
  const ranges = [sql`token0`, sql`token1`].flatMap((side) =>
    [...keys, sql`IS NULL`].map(
      (key) =>
        sql`(SELECT 1 FROM pools WHERE address_key(${side}) ${key} AND chain_id = ${chainId} AND status = 'unproven' LIMIT 1)`,
    ),
  );
  return joinSql(ranges, ' UNION ALL ');
}

export function formsOf(token: Address, chain: Chain): readonly Address[] {
  return token === wrappedNativeOf(chain) ? [token, ZERO_ADDRESS] : [token];
}

interface Scan {
  readonly chain: Chain;
  readonly chainId: Sql;
  readonly bounds: readonly Sql[];
  readonly end: Sql | null;
  readonly order: KeysetOrder;
  readonly limit: Sql;
  readonly isSpread: boolean;
}

interface SubjectRange extends SubjectRows {
  /** Conditions on a swap and its pool. */
  readonly filters: readonly Sql[];
}

function rangesOf(subject: SwapsSubject, chain: Chain, chainId: Sql): readonly SubjectRange[] {
  const from = 'swaps AS swap';
  const ofChain = sql`chain_id = ${chainId}`;
  switch (subject.kind) {
    case 'pair': {
      const isPool = expectedTrue(sql`swap.pool = ${hexBytes(subject.pool)}::bytea`);
      const of = [sql`swap.pool_key = ${poolKey(subject.pool)}::bigint`, isPool, sql`swap.${ofChain}`];
      return [{ from, of, filters: [] }];
    }
    case 'wallet': {
      const [key, bytes] = [
        sql`${addressKey(subject.wallet)}::bigint`,
        sql`${addressBytes(subject.wallet)}::bytea`,
      ];
      return [sql`wallet`, sql`beneficiary`].map((side) => {
        const isSide = expectedTrue(sql`swap.${side} = ${bytes}`);
        return { from, of: [sql`address_key(swap.${side}) = ${key}`, isSide, sql`swap.${ofChain}`], filters: [] };
      });
    }
    case 'token':
      return formsOf(subject.token, chain).flatMap((form) =>
        Object.entries({ token0: TOKEN0, token1: TOKEN1 }).map(([side, token]) => ({
          from: 'trades',
          of: [sql`${rawSql(side)}_key = ${addressKey(form)}::bigint`, ofChain],
          filters: [sql`${token} = ${addressBytes(form)}::bytea`],
        })),
      );
  }
}

function rowsOf(query: SwapsQuery, ranges: readonly SubjectRange[], scan: Scan): Sql {
  const wanted = filtersOf(query, scan);
  const parts = ranges.map(({ from, of, filters }) => {
    const listed = expectedTrue(joinSql([IS_LISTED, ...filters, ...wanted], ' AND '));
    const found = [...of, ...scan.bounds];
    return from === 'trades' ? tradesRange(found, listed, scan) : swapsRange(found, listed, scan);
  });
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : merged(parts, scan);
}

function filtersOf({ subject, types }: SwapsQuery, scan: Scan): readonly Sql[] {
  if (subject.kind === 'pair') return [typeCondition(types, null, scan)];
  if (subject.kind === 'token') return [typeCondition(types, () => formsInSql(subject.token, scan), scan)];
  if (subject.token === null) return [isTrade('swap.'), typeCondition(types, null, scan)];
  const focus = formsInSql(subject.token, scan);
  const isOfFocus = sql`(${TOKEN0} = ANY (${focus}) OR ${TOKEN1} = ANY (${focus}))`;
  return [isTrade('swap.'), isOfFocus, typeCondition(types, () => focus, scan)];
}

const TOKEN0 = sql`coalesce(known.token0, swap.token0)`;
const TOKEN1 = sql`coalesce(known.token1, swap.token1)`;
const COLUMNS = sql`swap.block_number, swap.transaction_index, swap.log_index, swap.kind, swap.pool, swap.wallet, swap.beneficiary,
    swap.amount0, swap.amount1, swap.transaction_hash, ${TOKEN0} AS token0, ${TOKEN1} AS token1, known.factory, known.exchange`;
const IS_POOL_OF_SWAP = sql`known.pool_key = swap.pool_key AND known.chain_id = swap.chain_id AND known.pool = swap.pool`;
const IS_SWAP_OF_TRADE = sql`swap.pool_key = trade.pool_key AND swap.chain_id = trade.chain_id AND swap.block_number = trade.block_number
      AND swap.transaction_index = trade.transaction_index AND swap.log_index = trade.log_index`;

/** Row by row: else the planner sorts all. Citus refuses a limit in a correlated subquery. */
function joinOne(table: Sql, name: Sql, condition: Sql, { isSpread }: Scan): Sql {
  return isSpread
    ? sql`JOIN ${table} AS ${name} ON ${condition}`
    : sql`CROSS JOIN LATERAL (SELECT * FROM ${table} AS ${name} WHERE ${condition} LIMIT 1) AS ${name}`;
}

function joinPool(scan: Scan): Sql {
  return joinOne(sql`pools`, sql`known`, IS_POOL_OF_SWAP, scan);
}

const IS_LISTED = sql`known.status = 'proven' AND known.is_counted AND (swap.kind <> 0 OR (
    swap.amount0 IS NOT NULL AND swap.amount1 IS NOT NULL AND ${TOKEN0} IS NOT NULL AND ${TOKEN1} IS NOT NULL))`;

function swapsRange(found: readonly Sql[], isListed: Sql, scan: Scan): Sql {
  return sql`SELECT ${COLUMNS} FROM swaps AS swap ${joinPool(scan)}
    ${where([...found, isListed])} ${LOG_COLUMNS_ORDER.by(scan.order, 'swap.')} LIMIT ${scan.limit}`;
}

function tradesRange(found: readonly Sql[], isListed: Sql, scan: Scan): Sql {
  return sql`SELECT ${COLUMNS} FROM (SELECT * FROM trades ${where(found)}) AS trade
    ${joinOne(sql`swaps`, sql`swap`, IS_SWAP_OF_TRADE, scan)} ${joinPool(scan)}
    WHERE ${isListed} ${LOG_COLUMNS_ORDER.by(scan.order, 'trade.')} LIMIT ${scan.limit}`;
}

/** A row if swaps of unproven pools may be missing. Null: a pair, which is proven. */
function undecidedPools({ subject, order }: SwapsQuery, scan: Scan): Sql | null {
  const { chainId, chain } = scan;
  switch (subject.kind) {
    case 'pair':
      return null;
    case 'token':
      return undecidedPoolsOf(subject.token, chain, chainId);
    case 'wallet': {
      const last = sql`(SELECT block_number FROM page ${LOG_COLUMNS_ORDER.by(order)} OFFSET ${scan.limit} - 1 LIMIT 1)`;
      // A page that is not full ends at its bounds. The planner ignores bounds inside the function.
      const end =
        order === 'DESC'
          ? sql`>= coalesce(${last}, ${scan.end ?? rawSql(0)})`
          : sql`<= coalesce(${last}, ${scan.end ?? INT4_MAX})`;
      const ranges = [sql`wallet`, sql`beneficiary`].map((side) => {
        const found = [
          sql`address_key(swap.${side}) = ${addressKey(subject.wallet)}::bigint`,
          sql`swap.chain_id = ${chainId}`,
          ...scan.bounds,
          sql`swap.block_number ${end}`,
        ];
        return sql`(SELECT 1 FROM swaps AS swap ${joinPool(scan)}
          ${where([...found, expectedTrue(sql`known.status = 'unproven' AND swap.kind = 0`)])} ${LOG_COLUMNS_ORDER.by(order, 'swap.')} LIMIT 1)`;
      });
      return joinSql(ranges, ' UNION ALL ');
    }
  }
}

const INT4_MAX = rawSql(2_147_483_647);

function merged(ranges: readonly Sql[], { order, limit }: Scan): Sql {
  const all = joinSql(
    ranges.map((range) => sql`(${range})`),
    ' UNION ALL ',
  );
  return sql`SELECT DISTINCT ON (block_number, transaction_index, log_index) * FROM (${all}) AS listed ${LOG_COLUMNS_ORDER.by(order)} LIMIT ${limit}`;
}

/** `focus` decides between buy and sell; null: base token. Other swaps need both types. */
function typeCondition(types: readonly SwapTransactionType[], focus: (() => Sql) | null, scan: Scan): Sql {
  const wanted = new Set(types.length === 0 ? TRANSACTION_TYPES : types);
  const isBuy = () =>
    sql`${isSold0('swap.')} <> (${focus === null ? isBase0(scan) : sql`${TOKEN0} = ANY (${focus()})`})`;
  const kinds = [
    ...(wanted.has('buy') && wanted.has('sell') ? [sql`swap.kind = 0`] : []),
    ...(wanted.has('buy') && !wanted.has('sell') ? [sql`(${isTrade('swap.')} AND ${isBuy()})`] : []),
    ...(!wanted.has('buy') && wanted.has('sell') ? [sql`(${isTrade('swap.')} AND NOT (${isBuy()}))`] : []),
    ...(wanted.has('addLiquidity') ? [sql`swap.kind = 1`] : []),
    ...(wanted.has('removeLiquidity') ? [sql`swap.kind = 2`] : []),
  ];
  return sql`(${joinSql(kinds, ' OR ')})`;
}

function isBase0({ chain }: Scan): Sql {
  const anchors: Anchors = anchorsOf(chain);
  const kinds = ANCHOR_KINDS.map((kind) => sql`${anchors[kind].map(addressBytes)}::bytea[]`);
  const rank = (token: Sql) =>
    sql`(CASE ${joinSql(
      kinds.map((tokens, at) => sql`WHEN ${token} = ANY (${tokens}) THEN ${rawSql(at)}`),
      ' ',
    )} ELSE ${rawSql(kinds.length)} END)`;
  return sql`${rank(TOKEN0)} >= ${rank(TOKEN1)}`;
}

function formsInSql(token: Address, { chain }: Scan): Sql {
  return sql`${formsOf(token, chain).map(addressBytes)}::bytea[]`;
}

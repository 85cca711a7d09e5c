import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, ZERO_ADDRESS } from '@chainstead/core';
import { blocksOfOld, boundsInSqlOld, type PageBounds, scanBoundsOld, traderInSqlOld } from '@chainstead/data-api';
import {
  addressBytes,
  type Bind,
  expectedTrueOld,
  hexBytes,
  type KeysetOrder,
  rowsAfterInPartitionsOld,
  type Statement,
  whereOld,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { hex, hexOrNull, int4, int8, packedRows, text, textOrNull } from '@chainstead/db/packed-rows';
import { ANCHOR_KINDS, type Anchors, anchorsOf, wrappedNativeOf } from '../anchors/anchors-of-chain.ts';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import { isSold0InSql, isTradeInSql } from '../trades/trade-direction.ts';

/** The subject of a list. Only swaps of proven pools that are counted are listed. */
export type SwapsSubject =
  /** Also liquidity changes. */
  | { readonly kind: 'pair'; readonly pool: PoolId }
  | { readonly kind: 'token'; readonly token: Address }
  /** Sender or beneficiary. `token` null: swaps of all tokens. */
  | { readonly kind: 'wallet'; readonly wallet: Address; readonly token: Address | null };

export const TRANSACTION_TYPES = ['buy', 'sell', 'addLiquidity', 'removeLiquidity'] as const;

export type TransactionType = (typeof TRANSACTION_TYPES)[number];

/** Position of a row in its chain. */
export interface SwapPlace {
  readonly block_number: number;
  readonly transaction_index: number;
  readonly log_index: number;
}

export interface SwapsQuery extends PageBounds {
  readonly subject: SwapsSubject;
  /** Empty: all. */
  readonly types: readonly TransactionType[];
  readonly order: KeysetOrder;
  /** Number of rows; one more is read to detect a next page. */
  readonly limit: number;
  /** Rows after this one; null for the first page. */
  readonly after: SwapPlace | null;
}

export interface SwapsReading {
  /** Whether tables are distributed. @default false */
  readonly isSpread?: boolean;
  /** Of {@link SWAPS}. */
  readonly select?: string;
}

/** The dataset whose coverage counts. */
export const SWAPS_DATASET = 'swaps';

/** The rows of a page. Tokens are those of the proven pool, or of the swap if the pool has more than two. */
export const SWAPS = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  /** As `SwapKind`. */
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
 * Returns the statement for a page of swaps. Each scan is a range of one index that stops after limit + 1 rows
 * (swaps-statement.explain.test.ts). For a pair it is the primary key of `swaps`. For a wallet, `swaps_by_wallet` and
 * `swaps_by_beneficiary` are merged; for a token, `trades_by_token0` and `trades_by_token1`. A swap that two of them contain is shown once.
 */
export function swapsStatement(
  chain: Chain,
  query: SwapsQuery,
  { isSpread = false, select = SWAPS.selectOld }: SwapsReading = {},
): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const { subject } = query;
  const of = subject.kind === 'wallet' ? traderInSqlOld(subject.wallet, SWAPS_DATASET, chainId, bind) : SWAPS_DATASET;
  const { ctes, lower, upper, lowest, highest, complete } = boundsInSqlOld(chain, chainId, of, query, bind, null);
  const after = query.after === null ? null : placesAfter(query.order, query.after, bind);
  const bounds = scanBoundsOld(query.order, { lower, upper }, after);
  const scan = {
    chain,
    chainId,
    bounds: bounds.scan,
    end: query.order === 'DESC' ? lowest : highest,
    order: query.order,
    limit: bind(query.limit + 1),
    isSpread,
    bind,
  };
  const found = `SELECT * FROM (${rowsOf(query, scan)}) AS found ${whereOld(bounds.far)} ${orderBy(query.order)}`;
  const undecided = undecidedPools(query, scan);
  const isDecided = undecided === null ? '' : ' AND NOT EXISTS (SELECT FROM undecided)';
  const tokens = 'SELECT token0 FROM page UNION SELECT token1 FROM page';
  const related = `SELECT ${blocksOfOld('SELECT block_number FROM page', chainId)} AS blocks, ${tokensOf(tokens, chainId)} AS tokens`;
  return {
    text: `WITH ${ctes.join(', ')}, page AS MATERIALIZED (${found}), related AS MATERIALIZED (${related})
${undecided === null ? '' : `, undecided AS MATERIALIZED (${undecided})`}
SELECT covered.indexed_from, covered.indexed_to, (${complete}${isDecided}) AS complete, related.blocks, related.tokens, packed.*
FROM covered CROSS JOIN related CROSS JOIN (SELECT ${select} FROM page) AS packed`,
    values,
  };
}

/** Address as hexadecimal digits, name, symbol, decimals, logo. */
export type TokenEntry = readonly [string, string | null, string | null, number | null, string | null];

/**
 * Returns a query that has a row if a pool of the token may have no proof yet: by the guess from its transfers, or without a guess.
 * @param chainId placeholder of the chain's id
 * @param bind adds a value to the statement and gives its placeholder
 */
export function undecidedPoolsOf(token: Address, chain: Chain, chainId: string, bind: Bind): string {
  const keys = formsOf(token, chain).map((form) => `= ${bind(addressKey(form))}::bigint`);
  const ranges = ['token0', 'token1'].flatMap((side) =>
    [...keys, 'IS NULL'].map(
      (key) =>
        `(SELECT 1 FROM pools WHERE address_key(${side}) ${key} AND chain_id = ${chainId} AND status = 'unproven' LIMIT 1)`,
    ),
  );
  return ranges.join(' UNION ALL ');
}

/** SQL of {@link TokenEntry} values, each token once, as JSON; null for none. @param tokens a query for them */
export function tokensOf(tokens: string, chainId: string): string {
  return `(SELECT json_agg(json_build_array(encode(address, 'hex'), name, symbol, decimals, logo))
    FROM tokens WHERE address = ANY (ARRAY(${tokens})) AND chain_id = ${chainId})`;
}

/** A token, and the zero address for the wrapped native token: Uniswap v4 trades the native token itself. */
export function formsOf(token: Address, chain: Chain): readonly Address[] {
  return token === wrappedNativeOf(chain) ? [token, ZERO_ADDRESS] : [token];
}

interface Scan {
  readonly chain: Chain;
  readonly chainId: string;
  readonly bounds: readonly string[];
  /** SQL of the last block of the order; null: no bound. */
  readonly end: string | null;
  readonly order: KeysetOrder;
  readonly limit: string;
  readonly isSpread: boolean;
  readonly bind: Bind;
}

function rowsOf({ subject, types }: SwapsQuery, scan: Scan): string {
  const { bind } = scan;
  switch (subject.kind) {
    case 'pair': {
      const conditions = [
        `swap.pool_key = ${bind(poolKey(subject.pool))}::bigint`,
        expectedTrueOld(`swap.pool = ${bind(hexBytes(subject.pool))}::bytea`),
      ];
      return swapsRange(conditions, [typeCondition(types, null, scan)], scan);
    }
    case 'wallet': {
      const { wallet, token } = subject;
      const [key, bytes] = [`${bind(addressKey(wallet))}::bigint`, `${bind(addressBytes(wallet))}::bytea`];
      const focus = token === null ? null : bindForms(token, scan);
      const filters = [
        isTradeInSql('swap.'),
        ...(focus === null ? [] : [`(${TOKEN0} = ANY (${focus}) OR ${TOKEN1} = ANY (${focus}))`]),
        typeCondition(types, focus === null ? null : () => focus, scan),
      ];
      const sides = ['wallet', 'beneficiary'].map((side) =>
        swapsRange([`address_key(swap.${side}) = ${key}`, expectedTrueOld(`swap.${side} = ${bytes}`)], filters, scan),
      );
      return merged(sides, scan);
    }
    case 'token': {
      const filter = typeCondition(types, () => bindForms(subject.token, scan), scan);
      const ranges = formsOf(subject.token, scan.chain).flatMap((form) =>
        ['token0', 'token1'].map((side) => tradesRange(side, form, filter, scan)),
      );
      return merged(ranges, scan);
    }
  }
}

const TOKEN0 = 'coalesce(known.token0, swap.token0)';
const TOKEN1 = 'coalesce(known.token1, swap.token1)';
const COLUMNS = `swap.block_number, swap.transaction_index, swap.log_index, swap.kind, swap.pool, swap.wallet, swap.beneficiary,
    swap.amount0, swap.amount1, swap.transaction_hash, ${TOKEN0} AS token0, ${TOKEN1} AS token1, known.factory, known.exchange`;
const IS_POOL_OF_SWAP = 'known.pool_key = swap.pool_key AND known.chain_id = swap.chain_id AND known.pool = swap.pool';
const IS_SWAP_OF_TRADE = `swap.pool_key = trade.pool_key AND swap.chain_id = trade.chain_id AND swap.block_number = trade.block_number
      AND swap.transaction_index = trade.transaction_index AND swap.log_index = trade.log_index`;

/**
 * Joins the only row of a table that meets the conditions. Row by row: for equality of several columns, the planner expects next to no rows,
 * and would read and sort all of them. Citus refuses a limit in a correlated subquery.
 */
function joinOne(table: string, name: string, condition: string, { isSpread }: Scan): string {
  return isSpread
    ? `JOIN ${table} AS ${name} ON ${condition}`
    : `CROSS JOIN LATERAL (SELECT * FROM ${table} AS ${name} WHERE ${condition} LIMIT 1) AS ${name}`;
}

/** A swap without tokens or amounts is not listed. */
const IS_LISTED = `known.status = 'proven' AND known.is_counted AND (swap.kind <> 0 OR (
    swap.amount0 IS NOT NULL AND swap.amount1 IS NOT NULL AND ${TOKEN0} IS NOT NULL AND ${TOKEN1} IS NOT NULL))`;

function swapsRange(conditions: readonly string[], filters: readonly string[], scan: Scan): string {
  const found = [...conditions, `swap.chain_id = ${scan.chainId}`, ...scan.bounds];
  return `SELECT ${COLUMNS} FROM swaps AS swap ${joinOne('pools', 'known', IS_POOL_OF_SWAP, scan)}
    ${whereOld([...found, expectedTrueOld([IS_LISTED, ...filters].join(' AND '))])} ${orderBy(scan.order, 'swap.')} LIMIT ${scan.limit}`;
}

function tradesRange(side: string, token: Address, filter: string, scan: Scan): string {
  const { bind, chainId, order } = scan;
  const found = [`${side}_key = ${bind(addressKey(token))}::bigint`, `chain_id = ${chainId}`, ...scan.bounds];
  const isOf = `${side === 'token0' ? TOKEN0 : TOKEN1} = ${bind(addressBytes(token))}::bytea`;
  return `SELECT ${COLUMNS} FROM (SELECT * FROM trades ${whereOld(found)}) AS trade
    ${joinOne('swaps', 'swap', IS_SWAP_OF_TRADE, scan)} ${joinOne('pools', 'known', IS_POOL_OF_SWAP, scan)}
    WHERE ${expectedTrueOld([IS_LISTED, isOf, filter].join(' AND '))} ${orderBy(order, 'trade.')} LIMIT ${scan.limit}`;
}

/**
 * Returns a query that has a row if the list may lack swaps whose pools have no proof yet; null for a pair, which is proven. For a wallet they
 * are the pools of its swaps in the range of the page.
 */
function undecidedPools({ subject, order }: SwapsQuery, scan: Scan): string | null {
  const { bind, chainId, chain } = scan;
  switch (subject.kind) {
    case 'pair':
      return null;
    case 'token':
      return undecidedPoolsOf(subject.token, chain, chainId, bind);
    case 'wallet': {
      const last = `(SELECT block_number FROM page ${orderBy(order)} OFFSET ${scan.limit} - 1 LIMIT 1)`;
      // A page that is not full ends where its bounds do. Inside of the function, the bound doesn't count for the planner.
      const end =
        order === 'DESC' ? `>= coalesce(${last}, ${scan.end ?? 0})` : `<= coalesce(${last}, ${scan.end ?? INT4_MAX})`;
      const ranges = ['wallet', 'beneficiary'].map((side) => {
        const found = [
          `address_key(swap.${side}) = ${bind(addressKey(subject.wallet))}::bigint`,
          `swap.chain_id = ${chainId}`,
          ...scan.bounds,
          `swap.block_number ${end}`,
        ];
        return `(SELECT 1 FROM swaps AS swap ${joinOne('pools', 'known', IS_POOL_OF_SWAP, scan)}
          ${whereOld([...found, expectedTrueOld("known.status = 'unproven' AND swap.kind = 0")])} ${orderBy(order, 'swap.')} LIMIT 1)`;
      });
      return ranges.join(' UNION ALL ');
    }
  }
}

const INT4_MAX = 2_147_483_647;

/** The first rows of several ranges, each once. */
function merged(ranges: readonly string[], { order, limit }: Scan): string {
  const all = ranges.map((range) => `(${range})`).join(' UNION ALL ');
  return `SELECT DISTINCT ON (${PLACE.join(', ')}) * FROM (${all}) AS listed ${orderBy(order)} LIMIT ${limit}`;
}

/**
 * A pair also lists swaps that are no trade: with both types, or without any.
 * @param focus SQL of the addresses whose side decides between buy and sell, bound if needed; null: the base token of each pool
 */
function typeCondition(types: readonly TransactionType[], focus: (() => string) | null, scan: Scan): string {
  const wanted = new Set(types.length === 0 ? TRANSACTION_TYPES : types);
  const isBuy = () =>
    `${isSold0InSql('swap.')} <> (${focus === null ? isBase0(scan) : `${TOKEN0} = ANY (${focus()})`})`;
  const kinds = [
    ...(wanted.has('buy') && wanted.has('sell') ? ['swap.kind = 0'] : []),
    ...(wanted.has('buy') && !wanted.has('sell') ? [`(${isTradeInSql('swap.')} AND ${isBuy()})`] : []),
    ...(!wanted.has('buy') && wanted.has('sell') ? [`(${isTradeInSql('swap.')} AND NOT (${isBuy()}))`] : []),
    ...(wanted.has('addLiquidity') ? ['swap.kind = 1'] : []),
    ...(wanted.has('removeLiquidity') ? ['swap.kind = 2'] : []),
  ];
  return `(${kinds.join(' OR ')})`;
}

/** `isQuotedIn0` in SQL, negated. */
function isBase0({ chain, bind }: Scan): string {
  const anchors: Anchors = anchorsOf(chain);
  const kinds = ANCHOR_KINDS.map((kind) => `${bind(anchors[kind].map(addressBytes))}::bytea[]`);
  const rank = (token: string) =>
    `(CASE ${kinds.map((tokens, at) => `WHEN ${token} = ANY (${tokens}) THEN ${at}`).join(' ')} ELSE ${kinds.length} END)`;
  return `${rank(TOKEN0)} >= ${rank(TOKEN1)}`;
}

function bindForms(token: Address, { chain, bind }: Scan): string {
  return `${bind(formsOf(token, chain).map(addressBytes))}::bytea[]`;
}

const PLACE = ['block_number', 'transaction_index', 'log_index'] as const;

function orderBy(order: KeysetOrder, relation = ''): string {
  return `ORDER BY ${PLACE.map((column) => `${relation}${column} ${order}`).join(', ')}`;
}

function placesAfter(order: KeysetOrder, place: SwapPlace, bind: Bind): readonly string[] {
  const [block, ...rest] = PLACE.map((column) => bind(place[column]));
  return rowsAfterInPartitionsOld(order, PLACE, [`${block}::bigint`, ...rest]);
}

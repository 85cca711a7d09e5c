import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, ZERO_ADDRESS } from '@chainstead/core';
import {
  addressBytes,
  hexBytes,
  hexText,
  joinSql,
  type ReadDatabase,
  rawSql,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { toDateBound } from '@chainstead/pages';
import {
  type PackedTokens,
  readTokens,
  type TokenBook,
  type TokenFacts,
  tokenBook,
  tokensOf,
} from '@chainstead/tokens/token-book';
import { type BlockTime, readAnchorBook } from '../anchors/anchor-steps.ts';
import { nativeTokenOf } from '../anchors/anchors-of-chain.ts';
import type { PoolId, PoolState } from '../events/pool-event.ts';
import { type PoolFacts, poolKey } from '../pools/pool-creation.ts';
import {
  poolStateOf,
  pricesInPool,
  STATE_COLUMNS,
  type StateColumns,
  wholePriceOf,
} from '../pools/pool-price.ts';
import { formsOf } from './swaps-page.ts';

export const STATES_DATASET = 'pool-states';

/** Inclusive; a block wins over a date. Both null: the newest. */
interface StateBound {
  readonly toBlock: number | null;
  readonly toDate: Date | null;
}

/** Base units; null: none stored at or before the block. */
type StoredReserves = readonly [reserve0: string, reserve1: string] | null;

/** `isKnown` false: no proven pool has this id. */
export async function getReserves(
  database: ReadDatabase,
  chain: Chain,
  pool: PoolId,
  at: StateBound,
): Promise<{ readonly isKnown: boolean; readonly reserves: StoredReserves }> {
  const { ctes, isUntil } = untilBlock(chain, at);
  const ofPool = conditionsOf(chain, pool);
  const [row] = await database.select<{ reserve0: string | null; reserve1: string | null }>(
    sql`WITH ${joinSql([
      ...ctes,
      sql`state AS MATERIALIZED (SELECT reserve0::text, reserve1::text FROM pool_states ${where([...ofPool, ...isUntil])}
      ORDER BY block_number DESC LIMIT 1)`,
    ])}
     SELECT reserve0, reserve1 FROM (SELECT FROM pools ${where([...ofPool, sql`status = 'proven'`])}) AS pair LEFT JOIN state ON true`,
  );
  if (row === undefined) return { isKnown: false, reserves: null };
  const { reserve0, reserve1 } = row;
  return { isKnown: true, reserves: reserve0 === null || reserve1 === null ? null : [reserve0, reserve1] };
}

export interface PairOfTokens {
  readonly pool: PoolId;
  readonly exchange: string | null;
  readonly factory: Address | null;
  readonly token0: Address;
  readonly token1: Address;
  readonly tokens: readonly TokenRecord[];
}

export interface TokenRecord extends Omit<TokenFacts, 'isNft'> {
  readonly createdBlock: number | null;
  readonly createdAt: Date | null;
}

/** The deepest proven pool that existed at the block; null: none. */
export async function getPairOfTokens(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly [Address, Address],
  factories: readonly Address[],
  at: StateBound,
): Promise<PairOfTokens | null> {
  const candidates = await listPairsOfTokens(database, chain, tokens, factories);
  let deepest: { readonly pair: Candidate; readonly depth: bigint } | null = null;
  for (const pair of candidates) {
    const depth = await readDepth(database, chain, pair.pool, at);
    if (depth !== null && (deepest === null || depth > deepest.depth)) deepest = { pair, depth };
  }
  return deepest === null ? null : withTokenRecords(database, chain, deepest.pair);
}

interface Candidate extends Omit<PairOfTokens, 'tokens'> {
  readonly isStable: boolean | null;
  readonly tickSpacing: number | null;
}

/** Anyone may create pools at a pool manager. */
const CANDIDATES_MAX = 100;

export async function listPairsOfTokens(
  database: ReadDatabase,
  chain: Chain,
  [left, right]: readonly [Address, Address],
  factories: readonly Address[],
): Promise<readonly Candidate[]> {
  const chainId = sql`${chain.id}::bigint`;
  const factory = sql`${factories.map(addressBytes)}::bytea[]`;
  const forms = formsOf(left, chain).flatMap((form) =>
    formsOf(right, chain).map((other) => [form, other] as const),
  );
  // Liquidity Book keeps tokens in any order.
  const branches = [...forms, ...forms.map(([form, other]) => [other, form] as const)].map(
    ([token0, token1]) =>
      sql`SELECT pool, exchange, factory, token0, token1, is_stable, tick_spacing FROM pools WHERE address_key(token0) = ${addressKey(token0)}::bigint
       AND address_key(token1) = ${addressKey(token1)}::bigint AND chain_id = ${chainId} AND status = 'proven' AND is_counted AND token0 = ${addressBytes(token0)}::bytea AND token1 = ${addressBytes(token1)}::bytea
       AND factory = ANY (${factory})`,
  );
  const columns = joinSql(
    ['pool', 'factory', 'token0', 'token1'].map((column) => sql`${hexText(column)} AS ${rawSql(column)}`),
  );
  return database.select<Candidate>(
    sql`SELECT exchange, is_stable, tick_spacing, ${columns} FROM (${joinSql(branches, ' UNION ALL ')}) AS found ORDER BY found.pool LIMIT ${rawSql(CANDIDATES_MAX)}`,
  );
}

/** Liquidity in range or reserve 0; 0: unknown; null: created later. */
async function readDepth(
  database: ReadDatabase,
  chain: Chain,
  pool: PoolId,
  at: StateBound,
): Promise<bigint | null> {
  const { ctes, isUntil } = untilBlock(chain, at);
  const ofPool = conditionsOf(chain, pool);
  const state = sql`state AS MATERIALIZED (SELECT coalesce(liquidity, reserve0)::text AS depth FROM pool_states ${where([...ofPool, ...isUntil])}
    ORDER BY block_number DESC LIMIT 1)`;
  const isLater = isUntil.length === 0 ? sql`false` : sql`NOT (${joinSql(isUntil, ' AND ')})`;
  const [row] = await database.select<{ depth: string | null; isLater: boolean }>(
    sql`WITH ${joinSql([...ctes, state])} SELECT (SELECT depth FROM state) AS depth,
       EXISTS (SELECT FROM pool_creations ${where([...ofPool, isLater])}) AS is_later`,
  );
  return row === undefined || row.isLater ? null : BigInt(row.depth ?? 0);
}

export async function withTokenRecords(
  database: ReadDatabase,
  chain: Chain,
  pair: Candidate,
): Promise<PairOfTokens> {
  const { token0, token1 } = pair;
  const tokens = await database.select<TokenRecord>(
    sql`SELECT ${hexText('address')} AS address, name, symbol, decimals, logo, verified, possible_spam,
       created_block, created_at FROM tokens WHERE chain_id = ${chain.id}::bigint AND address = ANY (${[token0, token1].map(addressBytes)}::bytea[])`,
  );
  return { ...pair, tokens };
}

function conditionsOf(chain: Chain, pool: PoolId): readonly Sql[] {
  return [
    sql`pool_key = ${poolKey(pool)}::bigint`,
    sql`chain_id = ${chain.id}::bigint`,
    sql`pool = ${hexBytes(pool)}::bytea`,
  ];
}

function untilBlock(chain: Chain, { toBlock, toDate }: StateBound): Record<'ctes' | 'isUntil', readonly Sql[]> {
  if (toBlock !== null) return { ctes: [], isUntil: [sql`block_number <= ${toBlock}::bigint`] };
  if (toDate === null) return { ctes: [], isUntil: [] };
  const date = toDateBound(sql`${chain.id}::bigint`, sql`${toDate}::timestamptz`);
  return { ctes: [date], isUntil: [sql`block_number <= (SELECT block FROM to_date)`] };
}

/** Whole tokens 1 per token 0. Null: no state, empty, or unknown decimals. */
export async function getPoolPrice(
  database: ReadDatabase,
  chain: Chain,
  { pool, token0, token1, tokens }: PairOfTokens,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Fraction | null> {
  const decimalsOf = (token: Address): number | null =>
    token === ZERO_ADDRESS
      ? chain.native.decimals
      : (tokens.find(({ address }) => address === token)?.decimals ?? null);
  const [decimals0, decimals1] = [decimalsOf(token0), decimalsOf(token1)];
  if (decimals0 === null || decimals1 === null) return null;
  const ofPool = sql`pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chain.id}::bigint AND pool = ${hexBytes(pool)}::bytea`;
  const [row] = await database.select<StateColumns & Pick<PoolFacts, 'isStable' | 'tickSpacing'>>(
    sql`WITH known AS MATERIALIZED (SELECT is_stable, tick_spacing FROM pools WHERE ${ofPool}),
       state AS MATERIALIZED (SELECT ${STATE_COLUMNS} FROM pool_states
         WHERE ${ofPool} AND block_number BETWEEN ${from}::bigint AND ${to}::bigint ORDER BY block_number DESC LIMIT 1)
     SELECT known.*, state.* FROM known CROSS JOIN state`,
  );
  const state = row === undefined ? null : poolStateOf(row);
  if (row === undefined || state === null) return null;
  return wholePriceOf(state, { ...row, decimals: [decimals0, decimals1] });
}

export interface Pair {
  readonly exchange: string | null;
  readonly factory: Address | null;
  readonly tokens: readonly [Address, Address] | null;
  readonly isStable: boolean | null;
  readonly tickSpacing: number | null;
  readonly state: PoolState | null;
  readonly newest: BlockTime | null;
  readonly tokenOf: TokenBook;
}

export async function getPair(database: ReadDatabase, chain: Chain, pool: PoolId): Promise<Pair | null> {
  const [row] = await database.select<
    Pick<Pair, 'exchange' | 'factory' | 'isStable' | 'tickSpacing'> &
      StateColumns & {
        readonly token0: Address | null;
        readonly token1: Address | null;
        readonly block: number | null;
        readonly time: number | null;
        readonly tokens: PackedTokens;
      }
  >(pairStatement(chain, pool));
  if (row === undefined) return null;
  const { exchange, factory, isStable, tickSpacing, token0, token1, block, time } = row;
  return {
    ...{ exchange, factory, isStable, tickSpacing },
    tokens: token0 === null || token1 === null ? null : [token0, token1],
    state: poolStateOf(row),
    newest: block === null || time === null ? null : { block, time },
    tokenOf: tokenBook(readTokens(row.tokens), nativeTokenOf(chain)),
  };
}

/** US dollars per whole token; null: unknown. */
export async function readPairPrices(
  database: ReadDatabase,
  chain: Chain,
  { tokens, newest, state, tokenOf, ...pool }: Pair,
): Promise<readonly [Fraction | null, Fraction | null]> {
  if (tokens === null || newest === null) return [null, null];
  const anchors = await readAnchorBook(database, chain, tokens, [newest]);
  const decimals = [tokenOf(tokens[0]).decimals, tokenOf(tokens[1]).decimals] as const;
  const ratio = state === null ? null : wholePriceOf(state, { ...pool, decimals });
  return pricesInPool(chain, tokens, ratio, (token) => anchors(token, newest));
}

function pairStatement(chain: Chain, pool: PoolId): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const ofPool = sql`pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea`;
  return sql`WITH pair AS MATERIALIZED (
  SELECT exchange, factory, token0, token1, is_stable, tick_spacing FROM pools
  WHERE ${ofPool} AND status = 'proven' AND is_counted
), state AS MATERIALIZED (
  SELECT ${STATE_COLUMNS} FROM pool_states
  WHERE ${ofPool} ORDER BY block_number DESC LIMIT 1
), newest AS MATERIALIZED (
  SELECT block_number AS block, extract(epoch FROM block_timestamp)::float8 AS time FROM blocks
  WHERE chain_id = ${chainId} ORDER BY block_number DESC LIMIT 1
)
SELECT exchange, ${hexText('factory')} AS factory, ${hexText('token0')} AS token0, ${hexText('token1')} AS token1, is_stable, tick_spacing, state.*, newest.*,
  ${tokensOf(sql`SELECT token0 FROM pair UNION SELECT token1 FROM pair`, chainId)} AS tokens
FROM pair LEFT JOIN state ON true LEFT JOIN newest ON true`;
}

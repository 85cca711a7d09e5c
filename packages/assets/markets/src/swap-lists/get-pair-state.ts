import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
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
import type { TokenFacts } from '@chainstead/tokens/token-book';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import { formsOf } from './swaps-page.ts';

export const STATES_DATASET = 'pool-states';

/** Inclusive; a block wins over a date. Both null: the newest. */
interface StateBound {
  readonly toBlock: number | null;
  readonly toDate: Date | null;
}

/** Base units; null: none stored at or before the block. */
export type StoredReserves = readonly [reserve0: string, reserve1: string] | null;

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

import type { Chain } from '@chainstead/chains';
import { type Address, isAddress } from '@chainstead/core';
import { hexBytes, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import {
  digits,
  int4,
  int8,
  type PackedTexts,
  packedRows,
  type RowOf,
  readPackedPage,
  text,
  textOrNull,
} from '@chainstead/db/packed-rows';
import { type Holding, readBalanceSeries } from '@chainstead/erc20/requests';
import { poolKey, poolStateOf } from '@chainstead/markets/requests';
import { areTablesSpread, readBlockRuns } from '@chainstead/pages';
import type { PricePlace } from '../place/price-place.ts';
import type { PoolOfToken } from '../pools/hop-pools.ts';
import { hasBins, readBinHistories, readPrincipals } from './bin-histories.ts';
import { addLiquidityChanges, type ReportedState, readLiquidityChanges } from './liquidity-in-range.ts';
import {
  addBalances,
  depthSourceOf,
  isEverInRange,
  mostLiquid,
  type PoolHistory,
  type StoredPoolHistory,
  SWAPS_DATASET,
} from './pool-history.ts';
import type { StateSince } from './side-depths.ts';

/** For each place in order. One statement reads the states of all. */
export async function readPoolHistories(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolOfToken[],
  places: readonly PricePlace[],
): Promise<readonly (readonly PoolHistory[])[]> {
  const stored = await readStates(database, chain, pools, places);
  return Promise.all(places.map((place, index) => addDepths(database, chain, stored[index] ?? [], place)));
}

async function addDepths(
  database: ReadDatabase,
  chain: Chain,
  stored: readonly StoredPoolHistory[],
  place: PricePlace,
): Promise<readonly PoolHistory[]> {
  const inVaults = stored.filter((pool) => !isAddress(pool.pool) && !hasBins(pool));
  const managed = await readPrincipals(database, chain, inVaults, place);
  const binned = await readBinHistories(database, chain, stored.filter(hasBins), place);
  const others = stored.filter((pool) => !managed.has(pool.pool) && !hasBins(pool));
  return [...managed.values(), ...binned, ...(await addTokenBalances(database, chain, others, place))];
}

/** Balances as tokens report them. The depth of other pools is unknown. */
async function addTokenBalances(
  database: ReadDatabase,
  chain: Chain,
  stored: readonly StoredPoolHistory[],
  place: PricePlace,
): Promise<readonly PoolHistory[]> {
  const inRange = await withLiquidity(database, chain, stored, place);
  const wanted = mostLiquid(
    inRange.filter((pool) => !pool.isUncovered && isAddress(pool.pool) && isEverInRange(pool)),
  );
  const holdings = wanted.flatMap(({ pool, token0, token1 }): Holding[] =>
    [token0, token1].map((token) => ({ account: pool as Address, token })),
  );
  // Balances before the first states don't matter: new installations need no older transfers.
  const starts = wanted.map(({ states: [first] }) =>
    Math.max(place.windowStart, first?.block ?? place.windowStart),
  );
  const span = { start: Math.min(place.block, ...starts), end: place.block };
  const series = await readBalanceSeries(database, chain, holdings, span);
  const places = new Map(wanted.map((pool, position) => [pool.pool, 2 * position]));
  return inRange.map(({ isUncovered, ...pool }) => {
    const position = places.get(pool.pool);
    const [own0, own1] = position === undefined ? [] : [series[position], series[position + 1]];
    if (own0 === undefined || own1 === undefined)
      return { ...pool, depth: isUncovered || !isAddress(pool.pool) ? 'uncovered' : 'known' };
    return { ...pool, states: addBalances(pool.states, [own0, own1]), depth: depthSourceOf([own0, own1]) };
  });
}

type PoolInRange = Omit<PoolHistory, 'depth'> & { readonly isUncovered: boolean };

async function readStates(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolOfToken[],
  places: readonly PricePlace[],
): Promise<readonly (readonly StoredPoolHistory[])[]> {
  if (pools.length === 0) return [];
  const chainId = sql`${chain.id}::bigint`;
  // The same text is planned once. Citus refuses a limit in a correlated subquery.
  const forEach = (await areTablesSpread(database)) ? eachOf(pools) : allOf(pools);
  const ranges = places.map((place, at) => {
    const position = (index: Sql) => sql`(${index} * ${rawSql(places.length)} + ${rawSql(at)})::integer`;
    return forEach((index, key, pool) => statesOf(position(index), { key, pool, place, chainId }));
  });
  const { rows } = await readPackedPage<StateRow, PackedTexts>(
    database,
    STATES,
    (select) => sql`WITH state AS MATERIALIZED (${joinSql(ranges, ' UNION ALL ')}), block AS MATERIALIZED (
     SELECT block_number, extract(epoch FROM block_timestamp) AS at FROM blocks
     WHERE chain_id = ${chainId} AND block_number = ANY (ARRAY(SELECT DISTINCT block_number FROM state))), timed AS MATERIALIZED (
     SELECT state.*, coalesce(stood_since, at)::float8 AS since, coalesce(at, stood_since)::float8 AS time
     FROM state LEFT JOIN block USING (block_number) WHERE coalesce(stood_since, at) IS NOT NULL ORDER BY position, block_number)
     SELECT ${select} FROM timed`,
  );
  const byPosition = Map.groupBy(rows, ({ position }) => position);
  return places.map((place, at) =>
    pools.flatMap((pool, index) =>
      storedHistory(chain, pool, place, byPosition.get(index * places.length + at) ?? []),
    ),
  );
}

/** @param index from 0 */
type SelectOf = (index: Sql, key: Sql, pool: Sql) => Sql;

function eachOf(pools: readonly PoolOfToken[]): (select: SelectOf) => Sql {
  const lists = pools.map(({ pool }) => [sql`${poolKey(pool)}::bigint`, sql`${hexBytes(pool)}::bytea`] as const);
  return (select) =>
    joinSql(
      lists.map(([key, pool], index) => select(rawSql(index), key, pool)),
      ' UNION ALL ',
    );
}

function allOf(pools: readonly PoolOfToken[]): (select: SelectOf) => Sql {
  const [keys, bytes] = [pools.map(({ pool }) => poolKey(pool)), pools.map(({ pool }) => hexBytes(pool))];
  const lists = sql`${keys}::bigint[], ${bytes}::bytea[]`;
  return (select) =>
    sql`SELECT found.* FROM unnest(${lists}) WITH ORDINALITY AS wanted (key, pool, number)
     CROSS JOIN LATERAL (${select(sql`(wanted.number - 1)`, sql`wanted.key`, sql`wanted.pool`)}) AS found`;
}

interface StatesOfPool {
  readonly key: Sql;
  readonly pool: Sql;
  readonly place: PricePlace;
  readonly chainId: Sql;
}

/** The first state may appear twice: a union without duplicates takes longer than the look-ups. */
function statesOf(
  position: Sql,
  { key, pool, place: { runStart, windowStart, block }, chainId }: StatesOfPool,
): Sql {
  const [run, start, end] = [sql`${runStart}::bigint`, sql`${windowStart}::bigint`, sql`${block}::bigint`];
  const of = sql`pool_key = ${key} AND chain_id = ${chainId} AND pool = ${pool}`;
  const selectFrom = (kind: RowKind, table: Sql, place: Sql, state = STATE): Sql =>
    sql`SELECT ${position} AS position, block_number, ${rawSql(`'${kind}'`)} AS kind, ${place}, ${state} FROM ${table} WHERE ${of}`;
  const select = sql`${selectFrom('event', sql`pool_states`, sql`NULL::bigint AS stood_since, transaction_index, log_index`)} AND block_number >= ${run}`;
  // A reading has the state at its block's end, also of the block before the first indexed one.
  const read = sql`${selectFrom('reading', sql`pool_readings`, sql`stood_since, ${INT4_MAX}, ${INT4_MAX}`)} AND block_number >= ${run} - 1`;
  const created = sql`${selectFrom('creation', sql`pool_creations`, sql`NULL, transaction_index, log_index`, NO_STATE)} AND block_number >= ${run}`;
  return sql`(${select} AND block_number <= ${end} ORDER BY block_number LIMIT 1)
    UNION ALL (${select} AND block_number <= ${start} ORDER BY block_number DESC LIMIT 1)
    UNION ALL (${select} AND block_number > ${start} AND block_number <= ${end})
    UNION ALL (${read} AND block_number <= ${end} ORDER BY block_number LIMIT 1)
    UNION ALL (${created} AND block_number <= ${end} ORDER BY block_number LIMIT 1)`;
}

/** None without a state. @param of oldest first */
function storedHistory(
  chain: Chain,
  pool: PoolOfToken,
  place: PricePlace,
  of: readonly StateRow[],
): readonly StoredPoolHistory[] {
  const ofKind = (kind: RowKind) => of.filter((row) => row.kind === kind);
  const events = ofKind('event')
    .filter(({ blockNumber }, index, all) => all[index - 1]?.blockNumber !== blockNumber)
    .flatMap(stateOf);
  const reading = ofKind('reading').filter((row) => row.blockNumber < (events[0]?.block ?? Infinity));
  // From the first state on, events report all: a reading counts only before them.
  const all = [...reading.flatMap(stateOf), ...events];
  const [first] = all;
  if (first === undefined) return [];
  const lastBefore = all.findLastIndex(({ block }) => block <= place.windowStart);
  const states = all.slice(Math.max(0, lastBefore));
  const { block } = all.at(-1) ?? first;
  const since = of.findLast((row) => row.blockNumber === block)?.time ?? first.since;
  const isRead = first !== events[0];
  // Without a creation event, the first state has the age if all earlier blocks are indexed.
  const [creation] = ofKind('creation');
  const isWhole = creation !== undefined || (place.runStart <= chain.firstBlock && !isRead);
  const createdAt = isWhole ? Math.max(first.since, creation?.since ?? 0) : null;
  return [{ ...pool, states, changedAt: { block, since }, createdAt, readAt: isRead ? first.block : null }];
}

const INT4_MAX = rawSql(2_147_483_647);
const STATE = sql`reserve0, reserve1, sqrt_price_x96, liquidity, tick`;
const NO_STATE = sql`NULL, NULL, NULL, NULL, NULL::integer`;

const seconds = (column: string) => ({ ...digits(column), read: Number });
const STATES = packedRows({
  position: int4('position'),
  blockNumber: int8('block_number'),
  transactionIndex: int4('transaction_index'),
  logIndex: int4('log_index'),
  kind: text('kind'),
  since: seconds('since'),
  time: seconds('time'),
  reserve0: textOrNull('reserve0::text'),
  reserve1: textOrNull('reserve1::text'),
  sqrtPriceX96: textOrNull('sqrt_price_x96::text'),
  liquidity: textOrNull('liquidity::text'),
  tick: textOrNull('tick::text'),
});

type StateRow = RowOf<typeof STATES>;
type RowKind = 'event' | 'reading' | 'creation';

function stateOf(row: StateRow): readonly ReportedState[] {
  const { blockNumber: block, since, transactionIndex, logIndex } = row;
  const state = poolStateOf({ ...row, tick: row.tick === null ? null : Number(row.tick) });
  return state === null ? [] : [{ block, since, transactionIndex, logIndex, state }];
}

async function withLiquidity(
  database: ReadDatabase,
  chain: Chain,
  stored: readonly StoredPoolHistory[],
  { block }: PricePlace,
): Promise<readonly PoolInRange[]> {
  const concentrated = stored.filter(({ states: [first] }) => first?.state.of === 'price');
  if (concentrated.length === 0) return stored.map((pool) => inRangeOf(pool, [], false));
  const run = (await readBlockRuns(database, chain.id, [SWAPS_DATASET], block)).get(SWAPS_DATASET);
  const firstBlockOf = ({ states: [first] }: StoredPoolHistory): number => first?.block ?? 0;
  // A reading includes changes in its block.
  const covered = concentrated.filter(
    (pool) => run !== undefined && run.firstBlock <= firstBlockOf(pool) + (pool.readAt === null ? 0 : 1),
  );
  const spans = covered.map((pool) => ({ pool: pool.pool, first: firstBlockOf(pool), last: block }));
  const changes = await readLiquidityChanges(database, chain, spans);
  const byPool = new Map(covered.map(({ pool }, position) => [pool, changes[position] ?? []]));
  return stored.map((pool) => {
    const ofPool = byPool.get(pool.pool);
    return inRangeOf(pool, ofPool ?? [], concentrated.includes(pool) && ofPool === undefined);
  });
}

function inRangeOf(
  { states, ...pool }: StoredPoolHistory,
  changes: Parameters<typeof addLiquidityChanges>[1],
  isUncovered: boolean,
): PoolInRange {
  const found = addLiquidityChanges(states, changes).map(({ state, ...since }): StateSince => {
    return {
      ...since,
      state,
      balances: state.of === 'reserves' ? [state.reserve0, state.reserve1] : [null, null],
    };
  });
  return { ...pool, states: found, isUncovered };
}

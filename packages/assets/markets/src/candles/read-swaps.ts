import type { Chain } from '@chainstead/chains';
import { expectedTrue, hexBytes, joinSql, type ReadDatabase, rawSql, type Sql, sql, where } from '@chainstead/db';
import { fromDateBound, LOG_ORDER, type LogPosition, type PageBounds, toDateBound } from '@chainstead/pages';
import type { PoolId } from '../events/pool-event.ts';
import { unpackTimes } from '../pool-candles/read-pool-swaps.ts';
import { poolKey } from '../pools/pool-creation.ts';
import type { TimedSwap } from '../trade-values/price-trade.ts';

export interface SwapsPart {
  readonly swaps: readonly TimedSwap[];
  readonly last: LogPosition | null;
}

export type DateBounds = Pick<PageBounds, 'pinnedBlock'> & Readonly<Record<'fromDate' | 'toDate', Date>>;

export interface SwapsPartQuery {
  readonly pool: PoolId;
  readonly bounds: DateBounds;
  readonly after: LogPosition | null;
  readonly limit: number;
}

/** Columns of {@link poolSwapsSql}. */
export interface SwapsColumns {
  /** Block, amount 0 and amount 1 of each swap. */
  readonly packed: string | null;
  /** Number and time of each block. */
  readonly times: string | null;
  /** Block, transaction index, log index. */
  readonly last: readonly number[] | null;
}

export async function readSwaps(database: ReadDatabase, chain: Chain, query: SwapsPartQuery): Promise<SwapsPart> {
  const [row] = await database.select<SwapsColumns>(poolSwapsStatement(chain, query));
  return swapsPart(row);
}

export function swapsPart(row: SwapsColumns | undefined): SwapsPart {
  const swaps = swapsOf(row?.packed ?? null, row?.times ?? null);
  const [block, transaction, log] = row?.last ?? [];
  const isLast = block !== undefined && transaction !== undefined && log !== undefined;
  return { swaps, last: isLast ? { block, transaction, log } : null };
}

export async function countSwaps(database: ReadDatabase, chain: Chain, query: SwapsPartQuery): Promise<number> {
  const { ctes, newest } = newestSwaps(chain, query, rawSql(1));
  const [row] = await database.select<{ readonly swaps: number }>(
    sql`WITH ${joinSql(ctes)} SELECT count(*)::float8 AS swaps FROM (${newest}) AS found`,
  );
  return row?.swaps ?? 0;
}

export function poolSwapsStatement(chain: Chain, query: SwapsPartQuery): Sql {
  const { bounds, found, columns } = poolSwapsSql(chain, query);
  return sql`WITH ${joinSql([...bounds, found])} SELECT ${columns}`;
}

/** `bounds`: CTEs `from_date` and `to_date`, which other CTEs may need too. */
export function poolSwapsSql(chain: Chain, query: SwapsPartQuery) {
  const { ctes, newest, chainId } = newestSwaps(chain, query, sql`${PLACE_COLUMNS}, amount0, amount1`);
  const columns = sql`
  (SELECT string_agg(block_number || ' ' || amount0 || ' ' || amount1, ' ' ORDER BY ${NEWEST_FIRST}) FROM found) AS packed,
  (SELECT string_agg(block.block_number || ' ' || extract(epoch FROM block.block_timestamp)::bigint, ' ')
    FROM blocks AS block WHERE block.chain_id = ${chainId} AND block.block_number = ANY (ARRAY(SELECT DISTINCT block_number FROM found))) AS times,
  (SELECT ARRAY[${PLACE_COLUMNS}] FROM found ORDER BY ${PLACE_COLUMNS} LIMIT 1) AS last`;
  return { bounds: ctes, found: sql`found AS MATERIALIZED (${newest})`, columns };
}

function newestSwaps(chain: Chain, { pool, bounds, after, limit }: SwapsPartQuery, columns: Sql) {
  const chainId = sql`${chain.id}::bigint`;
  const { fromDate, toDate, pinnedBlock } = bounds;
  const ctes = [fromDateBound(chainId, sql`${fromDate}`), toDateBound(chainId, sql`${toDate}`)];
  // A comparison of rows: with two bounds of a column, the planner expects few and sorts all.
  const first = sql`(${PLACE_COLUMNS}) >= ((SELECT block FROM from_date), 0, 0)`;
  const upper = [sql`block_number <= (SELECT block FROM to_date)`];
  if (pinnedBlock !== null) upper.push(sql`block_number <= ${pinnedBlock}::bigint`);
  const last = after === null ? upper : LOG_ORDER.after('DESC', after);
  const ofPool = [sql`pool_key = ${poolKey(pool)}::bigint`, sql`chain_id = ${chainId}`];
  const isSwap = expectedTrue(
    sql`kind = 0 AND amount0 IS NOT NULL AND amount1 IS NOT NULL AND pool = ${hexBytes(pool)}::bytea`,
  );
  const newest = sql`SELECT ${columns} FROM swaps ${where([...ofPool, ...last, first, isSwap])} ORDER BY ${NEWEST_FIRST} LIMIT ${limit}`;
  return { ctes, newest, chainId };
}

function swapsOf(packed: string | null, times: string | null): readonly TimedSwap[] {
  if (packed === null) return [];
  const timeOf = unpackTimes(times);
  const words = packed.split(' ');
  const swaps: TimedSwap[] = [];
  for (let index = 0; index + 2 < words.length; index += 3) {
    const block = Number(words[index]);
    const time = timeOf.get(block);
    if (time === undefined) continue;
    swaps.push({ block, time, amount0: BigInt(words[index + 1] ?? 0), amount1: BigInt(words[index + 2] ?? 0) });
  }
  return swaps;
}

const PLACE_COLUMNS = sql`block_number, transaction_index, log_index`;
const NEWEST_FIRST = sql`block_number DESC, transaction_index DESC, log_index DESC`;

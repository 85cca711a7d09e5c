import type { Chain } from '@chainstead/chains';
import {
  boundsInSql,
  type Indexed,
  type IndexedColumns,
  type PageBounds,
  readIndexed,
  scanBounds,
} from '@chainstead/data-api';
import {
  type Bind,
  expectedTrue,
  hexBytes,
  type ReadDatabase,
  rowsAfterInPartitions,
  type Statement,
  where,
} from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import { SWAPS_DATASET } from '../swap-lists/swaps-statement.ts';

/** A swap of a pool with its time. Amounts in base units: positive into the pool. */
export interface TimedSwap {
  readonly block: number;
  readonly transaction: number;
  readonly log: number;
  /** Unix seconds. */
  readonly time: number;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

export type SwapPosition = Pick<TimedSwap, 'block' | 'transaction' | 'log'>;

/** Part of a pool's swaps, newest first. */
export interface SwapsPart {
  readonly swaps: readonly TimedSwap[];
  readonly indexed: Indexed;
}

/** A part of a pool's swaps, newest first. */
export interface SwapsPartQuery {
  readonly pool: PoolId;
  readonly bounds: PageBounds;
  /** The last swap of the part before; null: the first part. */
  readonly after: SwapPosition | null;
  /** Number of swaps. */
  readonly limit: number;
}

/** Returns the next swaps of a pool in a range. */
export async function readSwaps(database: ReadDatabase, chain: Chain, query: SwapsPartQuery): Promise<SwapsPart> {
  const { text, values } = poolSwapsStatement(chain, query);
  const rows = await database.select<SwapRecord>(text, values);
  return { swaps: rows.flatMap(swapOf), indexed: readIndexed(rows[0]) };
}

/** The statement of a part: one range of the primary key of `swaps`. */
export function poolSwapsStatement(chain: Chain, { pool, bounds, after, limit }: SwapsPartQuery): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const { ctes, lower, upper, complete } = boundsInSql(chain, chainId, SWAPS_DATASET, bounds, bind, null);
  const later = after === null ? null : placesBefore(after, bind);
  const { scan, far } = scanBounds('DESC', { lower, upper }, later);
  const ofPool = [`pool_key = ${bind(poolKey(pool))}::bigint`, `chain_id = ${chainId}`];
  const isSwap = expectedTrue(
    `kind = 0 AND amount0 IS NOT NULL AND amount1 IS NOT NULL AND pool = ${bind(hexBytes(pool))}::bytea`,
  );
  const order = PLACE.map((column) => `${column} DESC`).join(', ');
  const newest = `SELECT block_number, transaction_index, log_index, amount0, amount1 FROM swaps
    ${where([...ofPool, ...scan, isSwap])} ORDER BY ${order} LIMIT ${bind(limit)}`;
  return {
    text: `WITH ${ctes.join(', ')}, found AS MATERIALIZED (SELECT * FROM (${newest}) AS newest ${where(far)})
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, found.block_number AS block, found.transaction_index AS transaction,
  found.log_index AS log, amount0::text, amount1::text, extract(epoch FROM block.block_timestamp)::float8 AS time
FROM covered LEFT JOIN (found JOIN blocks AS block ON block.chain_id = ${chainId} AND block.block_number = found.block_number) ON true
ORDER BY found.block_number DESC, found.transaction_index DESC, found.log_index DESC`,
    values,
  };
}

interface SwapRecord extends IndexedColumns {
  readonly block: number | null;
  readonly transaction: number | null;
  readonly log: number | null;
  readonly time: number | null;
  readonly amount0: string | null;
  readonly amount1: string | null;
}

/** Nothing for the row that a pool without swaps has. */
function swapOf({ block, transaction, log, time, amount0, amount1 }: SwapRecord): readonly TimedSwap[] {
  if (block === null || transaction === null || log === null || time === null || amount0 === null || amount1 === null)
    return [];
  return [{ block, transaction, log, time, amount0: BigInt(amount0), amount1: BigInt(amount1) }];
}

const PLACE = ['block_number', 'transaction_index', 'log_index'] as const;

function placesBefore({ block, transaction, log }: SwapPosition, bind: Bind): readonly string[] {
  return rowsAfterInPartitions('DESC', PLACE, [`${bind(block)}::bigint`, bind(transaction), bind(log)]);
}

import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, hexBytes, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { isBuilt } from '@chainstead/pages';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { BIN_SPAN_BLOCKS, binReservesOfChanges } from './bin-reserves-projection.ts';

interface BinRange {
  readonly pool: PoolId;
  readonly factory: Address;
  readonly lowest: number;
  readonly highest: number;
}

export interface BinReserves {
  readonly createdAt: number | null;
  readonly bins: readonly BinAmounts[];
}

/** First block that is read from `bin_changes`, not from the sums. */
export function firstUnsummedBinBlock(block: number): number {
  const [, , width] = BIN_SPAN_BLOCKS;
  return Math.max(0, block - (block % width));
}

/** Null: the sums are being built. */
export async function readBinReserves(
  database: ReadDatabase,
  chain: Chain,
  ranges: readonly BinRange[],
  block: number,
): Promise<readonly BinReserves[] | null> {
  const rows = await database.select<{
    position: number;
    bin: number | null;
    amount0: string | null;
    amount1: string | null;
    createdAt: number | null;
    isBuilt: boolean | null;
  }>(binReservesStatement(chain, ranges, block));
  if (rows.some((row) => row.isBuilt === false)) return null;
  const byRange = Map.groupBy(rows, ({ position }) => position);
  return ranges.map((_, position) => {
    const of = byRange.get(position) ?? [];
    return {
      createdAt: of.find(({ createdAt }) => createdAt !== null)?.createdAt ?? null,
      bins: of.flatMap(({ bin, amount0, amount1 }) =>
        bin === null ? [] : [{ bin, amount0: BigInt(amount0 ?? 0), amount1: BigInt(amount1 ?? 0) }],
      ),
    };
  });
}

export function binReservesStatement(chain: Chain, ranges: readonly BinRange[], block: number): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const end = firstUnsummedBinBlock(block);
  const spans = BIN_SPAN_BLOCKS.map((width, place) => {
    const wider = BIN_SPAN_BLOCKS[place - 1];
    const [first, last] = [wider === undefined ? 0 : end - (end % wider), end - (end % width)];
    return { width, first: sql`${first}::bigint`, last: sql`${last}::bigint` };
  });
  const keys = ranges.map(({ pool, factory, lowest, highest }, position) => {
    const of = sql`pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea`;
    const bins = sql`bin >= ${lowest}::bigint AND bin <= ${highest}::bigint`;
    return { position, of, bins, factory: sql`${addressBytes(factory)}::bytea` };
  });
  const sums = keys.flatMap(({ position, of, bins }) =>
    spans.map(
      ({ width, first, last }) =>
        sql`SELECT ${rawSql(position)} AS position, bin, amount0, amount1 FROM bin_reserves WHERE ${of} AND blocks = ${rawSql(width)} AND start >= ${first} AND start < ${last} AND ${bins}`,
    ),
  );
  const creations = keys.map(
    ({ position, of, factory }) =>
      sql`SELECT ${rawSql(position)} AS position, min(block_number)::int AS created_at FROM pool_creations WHERE ${of} AND factory = ${factory}`,
  );
  return sql`WITH changed AS MATERIALIZED (${joinSql(sums, ' UNION ALL ')}), created AS MATERIALIZED (${joinSql(creations, ' UNION ALL ')})
SELECT position, bin, sum(amount0)::text AS amount0, sum(amount1)::text AS amount1, NULL::int AS "createdAt", NULL::boolean AS "isBuilt" FROM changed
  GROUP BY position, bin HAVING sum(amount0) <> 0 OR sum(amount1) <> 0
UNION ALL SELECT position, NULL, NULL, NULL, created_at, NULL FROM created
UNION ALL SELECT -1, NULL, NULL, NULL, NULL, ${isBuilt(chainId, binReservesOfChanges)}`;
}

export interface BlockBinChange extends BinAmounts {
  readonly block: number;
  /** Unix seconds. */
  readonly since: number;
}

export async function readBinChanges(
  database: ReadDatabase,
  chain: Chain,
  ranges: readonly BinRange[],
  { first, last }: { readonly first: number; readonly last: number },
): Promise<readonly (readonly BlockBinChange[])[]> {
  if (ranges.length === 0) return [];
  const rows = await database.select<{
    position: number;
    block: number;
    since: number;
    bin: number;
    amount0: string;
    amount1: string;
  }>(binChangesStatement(chain, ranges, { first, last }));
  const byRange = Map.groupBy(rows, ({ position }) => position);
  return ranges.map((_, position) =>
    (byRange.get(position) ?? []).map(({ position: _, amount0, amount1, ...change }) => ({
      ...{ ...change, amount0: BigInt(amount0), amount1: BigInt(amount1) },
    })),
  );
}

export function binChangesStatement(
  chain: Chain,
  ranges: readonly BinRange[],
  { first, last }: { readonly first: number; readonly last: number },
): Sql {
  const [chainId, start, end] = [sql`${chain.id}::bigint`, sql`${first}::bigint`, sql`${last}::bigint`];
  const changes = ranges.map(
    ({ pool, lowest, highest }, position) =>
      sql`SELECT ${rawSql(position)} AS position, block_number, bin, amount0::text, amount1::text FROM bin_changes
       WHERE pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea
       AND block_number >= ${start} AND block_number <= ${end} AND bin >= ${lowest}::bigint AND bin <= ${highest}::bigint`,
  );
  return sql`WITH change AS MATERIALIZED (${joinSql(changes, ' UNION ALL ')})
SELECT position, change.block_number AS block, bin, amount0, amount1, extract(epoch FROM block_timestamp)::float8 AS since
FROM change JOIN blocks ON blocks.chain_id = ${chainId} AND blocks.block_number = change.block_number
ORDER BY position, change.block_number, bin`;
}

interface BinAmounts {
  readonly bin: number;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

const BASIS_POINTS = 10_000n;

/** Bins within a factor of 1.1 of the active one. `binStep`: basis points. */
export function binsWithinTenth(binStep: number): number {
  if (!Number.isInteger(binStep) || binStep < 1) return 0;
  const step = BASIS_POINTS + BigInt(binStep);
  let bins = 0;
  for (let [price, unit] = [step, BASIS_POINTS]; 10n * price <= 11n * unit; price *= step, unit *= BASIS_POINTS)
    bins++;
  return bins;
}

/** A Fenwick tree. @throws RangeError for a bin that is not in `all` */
export function createBinBook(all: Iterable<number>) {
  const bins = [...new Set(all)].toSorted((left, right) => left - right);
  const indexOf = new Map(bins.map((bin, index) => [bin, index]));
  const sums = bins.map(() => ({ amount0: 0n, amount1: 0n }));

  function sumOfFirst(count: number): readonly [bigint, bigint] {
    let [amount0, amount1] = [0n, 0n];
    for (let end = count; end > 0; end -= end & -end) {
      amount0 += sums[end - 1]?.amount0 ?? 0n;
      amount1 += sums[end - 1]?.amount1 ?? 0n;
    }
    return [amount0, amount1];
  }

  return {
    change({ bin, amount0, amount1 }: BinAmounts): void {
      const index = indexOf.get(bin);
      if (index === undefined) throw new RangeError(`Bin ${bin} is not among the pair's`);
      for (let end = index + 1; end <= sums.length; end += end & -end) {
        const sum = sums[end - 1];
        if (sum === undefined) break;
        sum.amount0 += amount0;
        sum.amount1 += amount1;
      }
    },
    /** Base units of X in bins from the active one up, and of Y down: others are not for sale. */
    near(activeId: number, reach: number): readonly [bigint, bigint] {
      const [upper0] = sumOfFirst(countBelow(bins, activeId + reach + 1));
      const [lower0] = sumOfFirst(countBelow(bins, activeId));
      const [, upper1] = sumOfFirst(countBelow(bins, activeId + 1));
      const [, lower1] = sumOfFirst(countBelow(bins, activeId - reach));
      return [positive(upper0 - lower0), positive(upper1 - lower1)];
    },
  };
}

function countBelow(bins: readonly number[], bin: number): number {
  let [low, high] = [0, bins.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bins[middle] ?? bin) < bin) low = middle + 1;
    else high = middle;
  }
  return low;
}

function positive(value: bigint): bigint {
  return value < 0n ? 0n : value;
}

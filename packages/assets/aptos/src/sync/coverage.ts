import { type BlockRange, intersectRanges, subtractRanges } from '@chainstead/core';
import { commitLock, type Database, sql, type Transaction } from '@chainstead/db';
import { chainIdOf } from '../fullnode/network.ts';
import type { AptosNetwork } from '../transaction.ts';

export interface AptosCoverage {
  readonly dataset: string;
  readonly range: BlockRange;
}

export interface MissingVersions {
  readonly range: BlockRange;
  readonly datasets: readonly string[];
}

/** Taken first by every writing transaction, against deadlocks. */
export async function lockCommits(transaction: Transaction, network: AptosNetwork): Promise<void> {
  await commitLock(transaction, `commit:aptos:${chainIdOf(network)}`);
}

export async function listCoverage(source: Pick<Database, 'query'>, network: AptosNetwork): Promise<AptosCoverage[]> {
  const rows = await source.query<BlockRange & { dataset: string }>(
    sql`SELECT dataset, first_version AS from, last_version AS to FROM aptos_ranges WHERE network = ${network} ORDER BY dataset, first_version`,
  );
  return rows.map(({ dataset, from, to }) => ({ dataset, range: { from, to } }));
}

/** Parts without a dataset, ascending, split where these change. */
export function missingVersions(
  wanted: readonly BlockRange[],
  datasets: readonly string[],
  coverage: readonly AptosCoverage[],
): MissingVersions[] {
  const gaps = datasets.map((dataset) => {
    const covered = coverage.filter((entry) => entry.dataset === dataset).map(({ range }) => range);
    return { dataset, ranges: subtractRanges(wanted, covered) };
  });
  const cuts = new Set(gaps.flatMap(({ ranges }) => ranges.flatMap(({ from, to }) => [from, to + 1])));
  const borders = [...cuts].toSorted((a, b) => a - b);
  return borders.flatMap((from, index) => {
    const next = borders[index + 1];
    if (next === undefined) return [];
    const range = { from, to: next - 1 };
    const lacking = gaps.filter(({ ranges }) => intersectRanges(ranges, [range]).length > 0);
    return lacking.length === 0 ? [] : [{ range, datasets: lacking.map(({ dataset }) => dataset) }];
  });
}

/** Joins neighbors. Under {@link lockCommits}. Idempotent. */
export async function recordCoverage(
  transaction: Transaction,
  network: AptosNetwork,
  datasets: readonly string[],
  range: BlockRange,
): Promise<void> {
  await transaction.query(
    sql`WITH wanted AS (SELECT unnest(${datasets}::text[]) AS dataset),
     joined AS (
       DELETE FROM aptos_ranges r USING wanted w
        WHERE r.network = ${network} AND r.dataset = w.dataset
          AND r.first_version <= ${range.to}::bigint + 1 AND r.last_version >= ${range.from}::bigint - 1
       RETURNING r.dataset, r.first_version, r.last_version)
     INSERT INTO aptos_ranges (network, dataset, first_version, last_version)
     SELECT ${network}, w.dataset, least(${range.from}::bigint, min(j.first_version)), greatest(${range.to}::bigint, max(j.last_version))
       FROM wanted w LEFT JOIN joined j USING (dataset) GROUP BY w.dataset`,
  );
}

/** Coverage per dataset (`sync_ranges`): disjoint ranges, equal neighbors joined. */
import { type BlockRange, type ChainId, mergeRanges, subtractRanges } from '@chainstead/core';
import { type Database, rawSql, sql, type Transaction } from '@chainstead/db';
import type { ProofLevel } from '@chainstead/proof';

export interface Coverage {
  readonly range: BlockRange;
  readonly proof: ProofLevel;
  readonly reason: string | null;
  readonly upstream: string | null;
}

/** Blocks that contradict their header or themselves: rows may be missing or wrong. */
export const CONTRADICTIONS = [
  'root-mismatch',
  'receipt-count',
  'transactions-root-mismatch',
  'transaction-hash-mismatch',
  'transaction-placement',
  'transaction-malformed',
  'receipt-mismatch',
] as const;

export interface DatasetCoverage extends Coverage {
  readonly dataset: string;
}

const COVERAGE = sql`dataset, json_build_object('from', first_block, 'to', last_block) AS range, proof, proof_reason AS reason, upstream`;

/** By dataset and block. @param within only ranges that overlap it @default all */
export async function listCoverage(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
  within?: BlockRange,
): Promise<DatasetCoverage[]> {
  const isWithin =
    within === undefined
      ? rawSql('')
      : sql`AND int8range(first_block, last_block, '[]') && int8range(${within.from}, ${within.to}, '[]')`;
  return source.query<DatasetCoverage>(
    sql`SELECT ${COVERAGE} FROM sync_ranges WHERE chain_id = ${chainId} ${isWithin} ORDER BY dataset, first_block`,
  );
}

export async function listCoverageByChain(
  source: Pick<Database, 'query'>,
): Promise<ReadonlyMap<number, readonly DatasetCoverage[]>> {
  const rows = await source.query<DatasetCoverage & { chain: number }>(
    sql`SELECT chain_id AS chain, ${COVERAGE} FROM sync_ranges ORDER BY chain_id, dataset, first_block`,
  );
  return Map.groupBy(rows, ({ chain }) => chain);
}

export async function isIndexed(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
  { from, to }: BlockRange,
): Promise<boolean> {
  const [row] = await source.query<{ isIndexed: boolean }>(
    sql`SELECT EXISTS (SELECT FROM blocks WHERE chain_id = ${chainId} AND block_number BETWEEN ${from} AND ${to})
         OR EXISTS (SELECT FROM sync_ranges WHERE chain_id = ${chainId} AND first_block <= ${to} AND last_block >= ${from}) AS is_indexed`,
  );
  return row?.isIndexed === true;
}

/** Split where the set of missing datasets changes. */
export function missingCoverage(
  wanted: BlockRange,
  datasets: readonly string[],
  coverage: readonly Pick<DatasetCoverage, 'dataset' | 'range'>[],
): { readonly range: BlockRange; readonly datasets: readonly string[] }[] {
  const gaps = datasets.map((dataset) => ({
    dataset,
    ranges: subtractRanges(
      [wanted],
      coverage.filter((covered) => covered.dataset === dataset).map((covered) => covered.range),
    ),
  }));
  const cuts = new Set<number>();
  for (const gap of gaps) for (const range of gap.ranges) cuts.add(range.from).add(range.to + 1);
  const borders = [...cuts].toSorted((a, b) => a - b);
  const missing: { range: BlockRange; datasets: string[] }[] = [];
  // Between two borders, a dataset lacks all blocks or none. Both ascend: one pass is enough.
  const passed = new Map<string, number>();
  const isLacking = ({ dataset, ranges }: (typeof gaps)[number], from: number): boolean => {
    let index = passed.get(dataset) ?? 0;
    while (index < ranges.length && (ranges[index]?.to ?? 0) < from) index += 1;
    passed.set(dataset, index);
    return (ranges[index]?.from ?? Number.POSITIVE_INFINITY) <= from;
  };
  for (let index = 0; index + 1 < borders.length; index++) {
    const range = { from: borders[index] ?? 0, to: (borders[index + 1] ?? 0) - 1 };
    const lacking = gaps.filter((gap) => isLacking(gap, range.from)).map((gap) => gap.dataset);
    // Invariant: SYNC-NO-GAP
    if (lacking.length > 0) missing.push({ range, datasets: lacking });
  }
  return missing;
}

/** Replaces earlier records of the range and joins equal neighbors. Idempotent. */
export async function recordCoverage(
  transaction: Transaction,
  chainId: ChainId,
  datasets: readonly string[],
  covered: Coverage,
): Promise<void> {
  const grown = await growCoverage(transaction, chainId, datasets, covered);
  const others = datasets.filter((dataset) => !grown.has(dataset));
  if (others.length === 0) return;
  // Invariant: SYNC-COVERAGE-DISJOINT
  await removeCoverage(transaction, chainId, others, covered.range);
  await transaction.query(
    sql`WITH wanted AS (SELECT unnest(${others}::text[]) AS dataset),
     neighbours AS (
       DELETE FROM sync_ranges r USING wanted w
        WHERE r.chain_id = ${chainId} AND r.dataset = w.dataset AND r.proof = ${covered.proof}
          AND r.proof_reason IS NOT DISTINCT FROM ${covered.reason} AND r.upstream IS NOT DISTINCT FROM ${covered.upstream}
          AND (r.last_block = ${covered.range.from}::bigint - 1 OR r.first_block = ${covered.range.to}::bigint + 1)
       RETURNING r.dataset, r.first_block, r.last_block)
     INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof, proof_reason, upstream)
     SELECT ${chainId}, w.dataset, least(${covered.range.from}::bigint, min(n.first_block)), greatest(${covered.range.to}::bigint, max(n.last_block)), ${covered.proof}, ${covered.reason}, ${covered.upstream}
       FROM wanted w LEFT JOIN neighbours n USING (dataset) GROUP BY w.dataset`,
  );
}

/** The common case of followed blocks. @returns the datasets done */
async function growCoverage(
  transaction: Transaction,
  chainId: ChainId,
  datasets: readonly string[],
  { range, proof, reason, upstream }: Coverage,
): Promise<ReadonlySet<string>> {
  const grown = await transaction.query<{ dataset: string }>(
    sql`UPDATE sync_ranges AS r SET last_block = ${range.to}
      WHERE r.chain_id = ${chainId} AND r.dataset = ANY(${datasets}::text[]) AND r.last_block = ${range.from}::bigint - 1
        AND int8range(r.first_block, r.last_block, '[]') @> ${range.from}::bigint - 1
        AND r.proof = ${proof} AND r.proof_reason IS NOT DISTINCT FROM ${reason} AND r.upstream IS NOT DISTINCT FROM ${upstream}
        AND NOT EXISTS (SELECT FROM sync_ranges AS other WHERE other.chain_id = ${chainId} AND other.dataset = r.dataset
          AND int8range(other.first_block, other.last_block, '[]') && int8range(${range.from}::bigint, ${range.to}::bigint + 1, '[]'))
      RETURNING r.dataset`,
  );
  return new Set(grown.map(({ dataset }) => dataset));
}

export async function removeCoverage(
  transaction: Transaction,
  chainId: ChainId,
  datasets: readonly string[],
  range: BlockRange,
): Promise<void> {
  const cut = await transaction.query<DatasetCoverage>(
    sql`DELETE FROM sync_ranges
      WHERE chain_id = ${chainId} AND dataset = ANY(${datasets}::text[]) AND int8range(first_block, last_block, '[]') && int8range(${range.from}, ${range.to}, '[]')
      RETURNING ${COVERAGE}`,
  );
  for (const { dataset, range: whole, proof, reason, upstream } of cut)
    for (const rest of subtractRanges([whole], [range]))
      await transaction.query(
        sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof, proof_reason, upstream)
         VALUES (${chainId}, ${dataset}, ${rest.from}, ${rest.to}, ${proof}, ${reason}, ${upstream})`,
      );
}

/** Rewritten rows, for copies outside the database. Rollbacks change block hashes instead. */
export async function recordRewritten(
  transaction: Transaction,
  chainId: ChainId,
  datasets: readonly string[],
  { from, to }: BlockRange,
): Promise<void> {
  await transaction.query(
    sql`DELETE FROM rewritten_ranges WHERE chain_id = ${chainId} AND dataset = ANY(${datasets}::text[]) AND first_block BETWEEN ${from} AND ${to} AND last_block <= ${to}`,
  );
  await transaction.query(
    sql`INSERT INTO rewritten_ranges (chain_id, dataset, first_block, last_block) SELECT ${chainId}, unnest(${datasets}::text[]), ${from}, ${to}`,
  );
}

/** Changes whenever rows of the range are rewritten; empty if they never were. */
export async function readRevisions(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
  dataset: string,
  ranges: readonly BlockRange[],
): Promise<readonly string[]> {
  const rows = await source.query<{ revision: string }>(
    sql`SELECT coalesce((SELECT md5(string_agg(revision::text, ',' ORDER BY revision)) FROM rewritten_ranges AS record
         WHERE record.chain_id = ${chainId} AND record.dataset = ${dataset} AND record.first_block <= wanted.last_block AND record.last_block >= wanted.first_block), '') AS revision
       FROM unnest(${ranges.map(({ from }) => from)}::bigint[], ${ranges.map(({ to }) => to)}::bigint[]) WITH ORDINALITY AS wanted(first_block, last_block, place) ORDER BY place`,
  );
  return rows.map(({ revision }) => revision);
}

/** Blocks that any dataset has from this source of history, newest first. */
export function rangesFromSource(coverage: readonly DatasetCoverage[], source: string): BlockRange[] {
  return mergeRanges(
    coverage.filter(({ upstream }) => upstream === source).map(({ range }) => range),
  ).toReversed();
}

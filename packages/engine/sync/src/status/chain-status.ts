import type { Chain } from '@chainstead/chains';
import { type BlockRange, type ChainId, rangeSize } from '@chainstead/core';
import { type Database, rawSql, readLayout, readShards, sql } from '@chainstead/db';
import type { UpstreamStatus } from '@chainstead/rpc';
import type { SourceStatus } from '@chainstead/sources';
import { type DatasetCoverage, listCoverageByChain, missingCoverage } from '../coverage/coverage.ts';
import {
  type CoveredRange,
  notNeeded,
  type RetentionSettings,
  readRetainedFrom,
} from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { type ProjectionBuild, readUnbuilt } from '../projections/projection-record.ts';
import { type DatasetFailure, openFailures, readRecordedFailures } from '../read/dataset-failures.ts';
import { INDEXED_AT, IS_REPORTED, readUnknownHeads, type UnknownHead } from './head-reports.ts';
import { unprovenBlocks } from './measure-coverage.ts';

export interface ChainStatus {
  readonly chainId: ChainId;
  /** Null if the chain was never ingested. */
  readonly key: string | null;
  readonly historyStart: number;
  /** Droppable rows only; 0: all are retained. */
  readonly retainedFrom: number;
  readonly firstFollowed: number;
  readonly checkpoint: number | null;
  readonly head: number | null;
  /** In blocks; null before the first block. */
  readonly lag: number | null;
  /** Not configured, and no process works on it. `since` null: only commands did. */
  readonly stored: { readonly since: Date | null } | null;
  /** Null while known, or if no process has followed the chain yet. */
  readonly unknownHead: UnknownHead | null;
  readonly stop: { readonly code: string; readonly message: string } | null;
  readonly stallReason: string | null;
  /** Null while the prover is idle. */
  readonly proving: {
    readonly blocksPerSecond: number;
    readonly blocksLeft: number;
    readonly secondsLeft: number;
  } | null;
  /** The dataset that lacks most; null while no missing block is filled. */
  readonly filling: ChainStatus['proving'];
  readonly upstreams: readonly UpstreamStatus[];
  /** As the process that follows the chain uses them. */
  readonly sources: readonly SourceStatus[];
  readonly coverage: readonly DatasetCoverage[];
  readonly gaps: readonly Gap[];
  readonly failures: readonly DatasetFailure[];
  readonly building: readonly ProjectionBuild[];
  readonly updatedAt: Date;
}

export interface Gap {
  readonly dataset: string;
  readonly range: BlockRange;
}
interface StoredStatus
  extends Omit<
    ChainStatus,
    | 'retainedFrom'
    | 'lag'
    | 'stored'
    | 'unknownHead'
    | 'proving'
    | 'filling'
    | 'coverage'
    | 'gaps'
    | 'failures'
    | 'building'
  > {
  readonly proverRate: number | null;
  readonly backfillRate: number | null;
  readonly isReported: boolean;
  readonly indexedAt: Date | null;
}

/** @param chains none: the configuration is elsewhere. @param retentionOf @default all */
export async function readChainStatuses(
  database: Database,
  datasets: readonly Dataset[],
  chains: readonly Chain[],
  retentionOf: (chain: Chain) => RetentionSettings | undefined = () => undefined,
): Promise<ChainStatus[]> {
  const [stored, coverages, builds, failures, unknownHeads] = await Promise.all([
    database.query<StoredStatus>(STATUS_QUERY),
    listCoverageByChain(database),
    readUnbuilt(database),
    readRecordedFailures(database),
    readUnknownHeads(database),
  ]);
  const statuses: ChainStatus[] = [];
  for (const { proverRate, backfillRate, isReported, indexedAt, ...status } of stored) {
    const { chainId, head, checkpoint } = status;
    const coverage = coverages.get(chainId) ?? [];
    const chain = chains.find(({ id }) => id === chainId);
    const retainedFrom =
      chain === undefined ? 0 : await readRetainedFrom(database, { chain, retention: retentionOf(chain) });
    const expected = expectedDatasets(chain, datasets, coverage);
    const old = notNeeded({ id: chainId }, expected, retainedFrom);
    const gaps = findGaps(status, expected, coverage, old);
    statuses.push({
      ...status,
      retainedFrom,
      lag: head === null || checkpoint === null ? null : Math.max(0, head - checkpoint),
      stored: chain === undefined && chains.length > 0 && !isReported ? { since: indexedAt } : null,
      unknownHead: unknownHeads.get(String(chainId)) ?? null,
      coverage,
      proving: workLeft(proverRate, unprovenBlocks(coverage)),
      filling: workLeft(backfillRate, mostMissing(gaps)),
      gaps,
      failures: openFailures(failures.get(chainId) ?? [], [...coverage, ...old]),
      building: (builds.get(chainId) ?? [])
        .filter(({ dataset }) => datasets.some(({ name }) => name === dataset))
        .map(({ state, dataset, status, part, rows }) => ({ state, dataset, status, part, rows })),
    });
  }
  return statuses;
}

/** A chain of range commands only has no follower: its range is the covered one. */
const STATUS_QUERY = sql`
  SELECT chain_id, chain_key AS key, history_start, first_followed, checkpoint, head,
         CASE WHEN stop_code IS NOT NULL THEN json_build_object('code', stop_code, 'message', coalesce(stop_message, '')) END AS stop,
         stall_reason, coalesce(upstreams, '[]') AS upstreams, coalesce(sources, '[]') AS sources, prover_rate, backfill_rate, updated_at,
         ${IS_REPORTED} AS "isReported", ${INDEXED_AT} AS "indexedAt"
    FROM sync_chains
  UNION ALL
  SELECT chain_id, NULL, min(first_block), max(last_block) + 1, NULL, NULL, NULL, NULL, '[]', '[]', NULL, NULL, now(), ${IS_REPORTED}, NULL
    FROM sync_ranges WHERE chain_id NOT IN (SELECT chain_id FROM sync_chains) GROUP BY chain_id
  ORDER BY chain_id`;

function workLeft(blocksPerSecond: number | null, blocksLeft: number): ChainStatus['proving'] {
  if (blocksPerSecond === null) return null;
  return { blocksPerSecond, blocksLeft, secondsLeft: Math.ceil(blocksLeft / blocksPerSecond) };
}

function mostMissing(gaps: readonly Gap[]): number {
  const missing = new Map<string, number>();
  for (const { dataset, range } of gaps) missing.set(dataset, (missing.get(dataset) ?? 0) + rangeSize(range));
  return Math.max(0, ...missing.values());
}

function expectedDatasets(
  chain: Chain | undefined,
  datasets: readonly Dataset[],
  coverage: readonly DatasetCoverage[],
): readonly Dataset[] {
  if (chain !== undefined) return datasetsOf(chain, datasets);
  return datasets.filter((dataset) => coverage.some((covered) => covered.dataset === dataset.name));
}

/** From the first block to index (or the first covered one) to the checkpoint. */
function findGaps(
  status: Pick<ChainStatus, 'chainId' | 'historyStart' | 'checkpoint' | 'firstFollowed'>,
  datasets: readonly Dataset[],
  coverage: readonly DatasetCoverage[],
  old: readonly CoveredRange[],
): Gap[] {
  const { chainId, historyStart, checkpoint, firstFollowed } = status;
  const firstOf = ({ firstBlock }: Dataset): number | null => firstBlock?.({ id: chainId }) ?? null;
  // Blocks that one dataset covers below the chain's history are no gap of the others.
  const early = new Set(datasets.filter((dataset) => firstOf(dataset) !== null).map(({ name }) => name));
  const common = coverage.filter(({ dataset }) => !early.has(dataset));
  const from = common.reduce((first, { range }) => Math.min(first, range.from), historyStart);
  const to = checkpoint ?? firstFollowed - 1;
  return datasets.flatMap((dataset) => {
    const missing = missingCoverage(
      { from: firstOf(dataset) ?? from, to },
      [dataset.name],
      [...coverage, ...old],
    );
    return missing.map(({ range }) => ({ dataset: dataset.name, range }));
  });
}

const COUNT_BYTES_MAX = 64 * 1024 * 1024;

export interface TableRows {
  readonly table: string;
  readonly rows: number;
  /** False for an estimate. */
  readonly exact: boolean;
}

export async function countRows(database: Database, tables: readonly string[]): Promise<TableRows[]> {
  const sizes = await database.query<TableSize>(
    sql`SELECT counted.relname AS name, sum(pg_relation_size(part.oid))::bigint AS bytes, sum(greatest(part.reltuples, 0))::bigint AS estimate
       FROM pg_class AS counted
         CROSS JOIN LATERAL (SELECT relid AS oid FROM pg_partition_tree(counted.oid) UNION SELECT counted.oid) AS tree
         JOIN pg_class AS part ON part.oid = tree.oid
      WHERE counted.relkind IN ('r', 'p') AND counted.relname = ANY(${tables}::text[]) AND counted.relnamespace = current_schema()::regnamespace
      GROUP BY counted.relname ORDER BY counted.relname`,
  );
  const inShards = await readInShards(database, tables);
  const counted: TableRows[] = [];
  for (const size of sizes) {
    const { name, bytes, estimate } = inShards.get(size.name) ?? size;
    const exact = bytes <= COUNT_BYTES_MAX;
    const count = sql`SELECT count(*) AS rows FROM ${rawSql(name)}`;
    const [row] = exact ? await database.query<{ rows: number }>(count) : [];
    counted.push({ table: name, rows: row?.rows ?? estimate, exact });
  }
  return counted;
}

interface TableSize {
  readonly name: string;
  readonly bytes: number;
  readonly estimate: number;
}

/** The coordinator's own files are empty. */
async function readInShards(
  database: Database,
  tables: readonly string[],
): Promise<ReadonlyMap<string, TableSize>> {
  const layout = await readLayout(database);
  const distributed = tables.filter((table) => layout?.tables.has(table) === true);
  if (distributed.length === 0) return new Map();
  const { shards, away } = await readShards(database, distributed);
  const sizes = new Map<string, TableSize>();
  for (const { root, lowest, heapBytes, tuples } of shards) {
    // Copies of a reference table have the same rows.
    const former = lowest === null ? undefined : sizes.get(root);
    // Rows of an unavailable node can't be counted.
    const uncounted = lowest !== null && away.length > 0 ? Number.POSITIVE_INFINITY : 0;
    const bytes = (former?.bytes ?? 0) + heapBytes + uncounted;
    sizes.set(root, { name: root, bytes, estimate: (former?.estimate ?? 0) + Math.max(tuples, 0) });
  }
  return sizes;
}

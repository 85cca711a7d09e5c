/** Aptos in `chainstead status` and `chainstead gaps`, read only from the database. */
import type { BlockRange } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { FullnodeStatus } from '../fullnode/fullnode-state.ts';
import { chainKeyOf } from '../fullnode/network.ts';
import type { AptosNetwork } from '../transaction.ts';
import { type AptosCoverage, listCoverage, missingVersions } from './coverage.ts';

export interface AptosStatus {
  readonly network: AptosNetwork;
  /** `aptos` or `aptos-testnet`. */
  readonly chain: string;
  readonly historyStart: number;
  readonly head: number | null;
  readonly oldest: number | null;
  /** The newest version that every dataset has. */
  readonly checkpoint: number | null;
  /** Versions between head and checkpoint. */
  readonly lag: number | null;
  readonly stop: { readonly code: string; readonly message: string } | null;
  readonly stallReason: string | null;
  readonly fullnodes: readonly FullnodeStatus[];
  readonly coverage: readonly AptosCoverage[];
  readonly gaps: readonly { readonly dataset: string; readonly range: BlockRange }[];
  /** The newest root that two fullnodes agree on. */
  readonly confirmedRoot: number | null;
  readonly updatedAt: Date;
}

interface NetworkRow {
  network: AptosNetwork;
  history_start: number;
  head: number | null;
  oldest: number | null;
  stop_code: string | null;
  stop_message: string | null;
  stall_reason: string | null;
  fullnodes: FullnodeStatus[] | null;
  confirmed_root: number | null;
  updated_at: Date;
}

/** Returns one entry for each network ever ingested here. @param datasets names of the indexed ones */
export async function readAptosStatuses(database: Database, datasets: readonly string[]): Promise<AptosStatus[]> {
  const rows = await database.query<NetworkRow>(STATUS_QUERY);
  const statuses: AptosStatus[] = [];
  for (const row of rows) statuses.push(statusOf(row, datasets, await listCoverage(database, row.network)));
  return statuses;
}

/** A network that only commands have processed has coverage but no row in `aptos_networks`. */
const STATUS_QUERY = sql`SELECT n.*, (SELECT max(version) FROM aptos_roots r WHERE r.network = n.network AND confirmed_by IS NOT NULL) AS confirmed_root
    FROM (SELECT network, history_start, head, oldest, stop_code, stop_message, stall_reason, fullnodes, updated_at
            FROM aptos_networks
           UNION ALL
          SELECT network, min(first_version), NULL, NULL, NULL, NULL, NULL, NULL, now()
            FROM aptos_ranges WHERE network NOT IN (SELECT network FROM aptos_networks) GROUP BY network) n
   ORDER BY network`;

function statusOf(row: NetworkRow, datasets: readonly string[], coverage: readonly AptosCoverage[]): AptosStatus {
  const tops = datasets.map((name) => coverage.findLast(({ dataset }) => dataset === name)?.range.to ?? null);
  const known = tops.filter((top) => top !== null);
  const checkpoint = known.length < tops.length || known.length === 0 ? null : Math.min(...known);
  const wanted = { from: row.history_start, to: Math.max(-1, ...known) };
  return {
    network: row.network,
    chain: chainKeyOf(row.network),
    historyStart: row.history_start,
    head: row.head,
    oldest: row.oldest,
    checkpoint,
    lag: row.head === null || checkpoint === null ? null : Math.max(0, row.head - checkpoint),
    stop: row.stop_code === null ? null : { code: row.stop_code, message: row.stop_message ?? '' },
    stallReason: row.stall_reason,
    fullnodes: row.fullnodes ?? [],
    coverage,
    gaps: datasets.flatMap((dataset) =>
      missingVersions([wanted], [dataset], coverage).map(({ range }) => ({ dataset, range })),
    ),
    confirmedRoot: row.confirmed_root,
    updatedAt: row.updated_at,
  };
}

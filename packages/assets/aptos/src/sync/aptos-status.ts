import type { BlockRange } from '@chainstead/core';
import { commitLock, type Database, sql, type Transaction } from '@chainstead/db';
import { missingCoverage } from '@chainstead/sync/requests';
import type { FullnodeStatus } from '../fullnode/fullnode-state.ts';
import { chainIdOf, chainKeyOf } from '../fullnode/ledger-info.ts';
import type { AptosNetwork } from '../transaction.ts';

export interface AptosStatus {
  readonly network: AptosNetwork;
  readonly chain: string;
  readonly historyStart: number;
  readonly head: number | null;
  readonly oldest: number | null;
  readonly checkpoint: number | null;
  readonly lag: number | null;
  readonly stop: { readonly code: string; readonly message: string } | null;
  readonly stallReason: string | null;
  readonly fullnodes: readonly FullnodeStatus[];
  readonly coverage: readonly AptosCoverage[];
  readonly gaps: readonly { readonly dataset: string; readonly range: BlockRange }[];
  readonly confirmedRoot: number | null;
  readonly updatedAt: Date;
}

type StoredStatus = Omit<AptosStatus, 'chain' | 'checkpoint' | 'lag' | 'coverage' | 'gaps'>;

export async function readAptosStatuses(database: Database, datasets: readonly string[]): Promise<AptosStatus[]> {
  const rows = await database.query<StoredStatus>(STATUS_QUERY);
  const statuses: AptosStatus[] = [];
  for (const row of rows) statuses.push(statusOf(row, datasets, await listCoverage(database, row.network)));
  return statuses;
}

/** A network that only commands have processed has no row in `aptos_networks`. */
const STATUS_QUERY = sql`SELECT n.network, n.history_start, n.head, n.oldest,
      CASE WHEN n.stop_code IS NOT NULL THEN json_build_object('code', n.stop_code, 'message', coalesce(n.stop_message, '')) END AS stop,
      n.stall_reason, coalesce(n.fullnodes, '[]') AS fullnodes, n.updated_at,
      (SELECT max(version) FROM aptos_roots r WHERE r.network = n.network AND confirmed_by IS NOT NULL) AS "confirmedRoot"
    FROM (SELECT network, history_start, head, oldest, stop_code, stop_message, stall_reason, fullnodes, updated_at
            FROM aptos_networks
           UNION ALL
          SELECT network, min(first_version), NULL, NULL, NULL, NULL, NULL, NULL, now()
            FROM aptos_ranges WHERE network NOT IN (SELECT network FROM aptos_networks) GROUP BY network) n
   ORDER BY network`;

function statusOf(
  stored: StoredStatus,
  datasets: readonly string[],
  coverage: readonly AptosCoverage[],
): AptosStatus {
  const tops = datasets.flatMap((name) => coverage.findLast(({ dataset }) => dataset === name)?.range.to ?? []);
  const checkpoint = tops.length < datasets.length || tops.length === 0 ? null : Math.min(...tops);
  const range = { from: stored.historyStart, to: Math.max(-1, ...tops) };
  return {
    ...stored,
    chain: chainKeyOf(stored.network),
    checkpoint,
    lag: stored.head === null || checkpoint === null ? null : Math.max(0, stored.head - checkpoint),
    coverage,
    gaps: datasets.flatMap((dataset) =>
      missingCoverage(range, [dataset], coverage).map((missing) => ({ dataset, range: missing.range })),
    ),
  };
}

interface AptosCoverage {
  readonly dataset: string;
  readonly range: BlockRange;
}

/** Taken first by every writing transaction, against deadlocks. */
export async function lockCommits(transaction: Transaction, network: AptosNetwork): Promise<void> {
  await commitLock(transaction, `commit:aptos:${chainIdOf(network)}`);
}

export async function listCoverage(
  source: Pick<Database, 'query'>,
  network: AptosNetwork,
): Promise<AptosCoverage[]> {
  return source.query<AptosCoverage>(
    sql`SELECT dataset, json_build_object('from', first_version, 'to', last_version) AS range FROM aptos_ranges WHERE network = ${network} ORDER BY dataset, first_version`,
  );
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

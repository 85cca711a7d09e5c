import type { BlockRange } from '@chainstead/core';
import { commitLock, type Database, sql, type Transaction } from '@chainstead/db';
import { chainIdOf } from '../fullnode/network.ts';
import type { AptosNetwork } from '../transaction.ts';

export interface AptosCoverage {
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

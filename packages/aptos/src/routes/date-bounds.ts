import type { Filter } from './open-page.ts';
import type { PageScan } from './page-statement.ts';

/**
 * Bounds of a scan of transfers by time. Versions are in the order of time, so a date is a version, found by bisecting the gas rows
 * of which every user transaction has one; transfers have no index on their time.
 */
export function versionBounds(fromDate: Date | null, toDate: Date | null): Pick<PageScan, 'ctes' | 'lowest' | 'below'> {
  return {
    ctes: (bind) => [
      ...(fromDate === null ? [] : [dateBound('from_date', `probe.transaction_timestamp < ${bind(fromDate)}`)]),
      ...(toDate === null ? [] : [dateBound('to_date', `probe.transaction_timestamp <= ${bind(toDate)}`)]),
    ],
    lowest: () => (fromDate === null ? null : '(SELECT version FROM from_date)'),
    below: () => (toDate === null ? null : '(SELECT version FROM to_date)'),
  };
}

/** A date of a filter, where it is in milliseconds. */
export function dateIn(filter: Filter, name: string): Date | null {
  const value = filter[name];
  return typeof value === 'number' ? new Date(value) : null;
}

/** SHA-256 of `0x1::aptos_coin::AptosCoin`. */
const APTOS_COIN_HASH = '91ceb1308a98389691e05158b07ed5f079ab78461a6bb8d5a4054b1bb5cb8bb6';

/** CTE: every known version below `version` is below the date, none from it on is. Reads about 35 rows. */
function dateBound(name: string, isBelow: string): string {
  const gas = `aptos_transfers WHERE network = $1 AND coin_type_hash = '\\x${APTOS_COIN_HASH}'`;
  return `${name} AS MATERIALIZED (
  WITH RECURSIVE steps(low, high) AS (
    SELECT 0::bigint, coalesce((SELECT transaction_version + 1 FROM ${gas} ORDER BY transaction_version DESC LIMIT 1), 0)
    UNION ALL
    SELECT CASE WHEN ${isBelow} THEN probe.transaction_version + 1 ELSE step.low END,
      CASE WHEN ${isBelow} THEN step.high ELSE (step.low + step.high) / 2 END
    FROM steps AS step CROSS JOIN LATERAL (
      SELECT transaction_version, transaction_timestamp FROM ${gas} AND transaction_version >= (step.low + step.high) / 2
      ORDER BY transaction_version LIMIT 1) AS probe
    WHERE step.low < step.high
  )
  SELECT max(low) AS version FROM steps
)`;
}

import { type AptosStatus, chainKeyOf, readAptosStatuses } from '@chainstead/aptos';
import { rangeSize, subtractRanges } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UnknownHead } from '@chainstead/sync/ingest';
import type { AptosConfiguration, AptosNetworkConfiguration } from '../configuration/index.ts';
import { unknownHeadReason } from './readiness.ts';

export const READY_LAG_VERSIONS = 10_000;

export async function readAptosReadiness(
  database: Database,
  { networks, datasets }: AptosConfiguration,
  unknownHeads: ReadonlyMap<string, UnknownHead>,
): Promise<string[]> {
  if (networks.length === 0) return [];
  const statuses = await readAptosStatuses(database, datasets);
  return networks.flatMap((configured) => {
    const status = statuses.find(({ network }) => network === configured.network);
    const reason = whyNotReady(configured, status, datasets, unknownHeads.get(chainKeyOf(configured.network)));
    return reason === null ? [] : [`${chainKeyOf(configured.network)} ${reason}`];
  });
}

/** Pruned old history is no reason: the head is still followed. */
export function whyNotReady(
  { endVersion }: Pick<AptosNetworkConfiguration, 'endVersion'>,
  status: AptosStatus | undefined,
  datasets: readonly string[],
  unknown: UnknownHead | undefined,
): string | null {
  if (status === undefined) return 'was never ingested';
  if (status.stop !== null && status.stop.code !== 'VERSIONS_PRUNED') return `is stopped: ${status.stop.code}`;
  if (endVersion !== null) {
    const missing = versionsMissing(status, datasets, endVersion);
    return missing > READY_LAG_VERSIONS ? `lacks ${missing} versions up to END_VERSION` : null;
  }
  const reason = unknownHeadReason(unknown);
  if (reason !== null) return reason;
  if (status.lag === null) return 'has not followed a version yet';
  return status.lag > READY_LAG_VERSIONS ? `is ${status.lag} versions behind its head` : null;
}

function versionsMissing(
  { coverage, historyStart }: AptosStatus,
  datasets: readonly string[],
  end: number,
): number {
  const missing = datasets.map((name) =>
    subtractRanges(
      [{ from: historyStart, to: end }],
      coverage.filter(({ dataset }) => dataset === name).map(({ range }) => range),
    ).reduce((sum, range) => sum + rangeSize(range), 0),
  );
  return Math.max(0, ...missing);
}

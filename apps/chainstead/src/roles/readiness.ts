import { rangeSize, subtractRanges } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Readiness } from '@chainstead/http/server';
import { type Dataset, datasetsOf } from '@chainstead/sync/datasets';
import { type ChainStatus, isDroppable, readChainStatuses, type UnknownHead } from '@chainstead/sync/ingest';
import { type ChainConfiguration, retentionOfChains } from '../configuration/index.ts';

export interface ReadinessOptions {
  readonly chains: readonly ChainConfiguration[];
  readonly datasets: readonly Dataset[];
  readonly readyLagBlocks: number;
  readonly unknownHeads: ReadonlyMap<string, UnknownHead>;
}

export async function readReadiness(database: Database, options: ReadinessOptions): Promise<Readiness> {
  if (options.chains.length === 0) return { ready: true, reasons: [] };
  const chains = options.chains.map(({ chain }) => chain);
  const retentionOf = retentionOfChains(options.chains);
  return judgeReadiness(await readChainStatuses(database, options.datasets, chains, retentionOf), options);
}

/** Followed within the lag or, with an end block, indexed except for as many blocks. */
export function judgeReadiness(statuses: readonly ChainStatus[], options: ReadinessOptions): Readiness {
  const reasons = options.chains.flatMap((configured) => {
    const status = statuses.find(({ chainId }) => chainId === configured.chain.id);
    const reason = whyNotReady(configured, status, options);
    return reason === null ? [] : [`${configured.chain.key} ${reason}`];
  });
  return { ready: reasons.length === 0, reasons };
}

function whyNotReady(
  { chain, endBlock }: ChainConfiguration,
  status: ChainStatus | undefined,
  { datasets, readyLagBlocks, unknownHeads }: ReadinessOptions,
): string | null {
  const unknown = unknownHeadReason(unknownHeads.get(String(chain.id)));
  if (status === undefined) return unknown === null ? 'was never ingested' : `was never ingested and ${unknown}`;
  if (status.stop !== null) return `is stopped: ${status.stop.code}`;
  if (endBlock !== null) {
    const missing = blocksMissing(datasetsOf(chain, datasets), status, endBlock);
    return missing > readyLagBlocks ? `lacks ${missing} blocks up to END_BLOCK` : null;
  }
  if (unknown !== null) return unknown;
  if (status.lag === null) return 'has not followed a block yet';
  return status.lag > readyLagBlocks ? `is ${status.lag} blocks behind its head` : null;
}

export function unknownHeadReason(unknown: UnknownHead | undefined): string | null {
  if (unknown === undefined) return null;
  return `has an unknown head since ${unknown.since.toISOString()}: ${unknown.reason}`;
}

function blocksMissing(datasets: readonly Dataset[], status: ChainStatus, endBlock: number): number {
  const wantedOf = (dataset: Dataset) => ({
    from: isDroppable(dataset) ? Math.max(status.historyStart, status.retainedFrom) : status.historyStart,
    to: endBlock,
  });
  const missing = datasets.map((dataset) =>
    subtractRanges(
      [wantedOf(dataset)],
      status.coverage.filter((covered) => covered.dataset === dataset.name).map(({ range }) => range),
    ).reduce((sum, range) => sum + rangeSize(range), 0),
  );
  return Math.max(0, ...missing);
}

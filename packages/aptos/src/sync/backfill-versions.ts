import type { BlockRange } from '@chainstead/core';
import { VersionsPrunedError } from '../fullnode/errors.ts';
import { chainKeyOf } from '../fullnode/network.ts';
import { VersionsNotThereError } from './errors.ts';
import { type FillOptions, type FillProgress, fillVersions } from './fill-versions.ts';

/**
 * Covers the ranges with all datasets, beside a running ingest process or without one.
 * @throws VersionsNotThereError when a range reaches above the head
 * @throws VersionsPrunedError when it begins below what every fullnode has; before anything is read
 * @throws RootMismatchError
 */
export async function backfillVersions(
  options: FillOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<FillProgress> {
  const { fullnodes } = options;
  const chain = chainKeyOf(fullnodes.network);
  const { head, oldest } = await fullnodes.ledger(signal);
  for (const range of ranges) {
    if (range.to > head) throw new VersionsNotThereError({ chain, range, head });
    if (range.from < oldest) {
      const names = fullnodes.status().map(({ name }) => name);
      throw new VersionsPrunedError({ chain, version: range.from, oldest, fullnodes: names });
    }
  }
  return fillVersions(options, ranges, signal);
}

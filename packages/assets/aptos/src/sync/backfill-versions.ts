import { type BlockRange, defineError } from '@chainstead/core';
import { VersionsPrunedError } from '../fullnode/errors.ts';
import { type FillProgress, fillVersions, type VersionFillOptions } from './fill-versions.ts';

/** @throws VersionsNotThereError, VersionsPrunedError (before any read), RootMismatchError */
export async function backfillVersions(
  options: VersionFillOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<FillProgress> {
  const { fullnodes } = options;
  const { chain } = fullnodes;
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

class VersionsNotThereError extends defineError(
  'VERSIONS_NOT_THERE',
  (facts: { chain: string; range: BlockRange; head: number }) => ({
    message: `Versions ${facts.range.from} to ${facts.range.to} of ${facts.chain} exceed ${facts.head}, the newest version of its fullnodes`,
    remedy: `Set --to to ${facts.head} or lower. "chainstead start" indexes newer versions`,
  }),
) {}

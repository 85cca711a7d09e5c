import { type BlockRange, mergeRanges } from '@chainstead/core';
import type { DatasetCoverage } from './coverage.ts';

/** Blocks that any dataset has from this source of history, newest first. */
export function rangesFromSource(coverage: readonly DatasetCoverage[], source: string): BlockRange[] {
  return mergeRanges(
    coverage.filter(({ upstream }) => upstream === source).map(({ range }) => range),
  ).toReversed();
}

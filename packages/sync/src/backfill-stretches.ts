/** What a backfill reads: stretches of blocks that lack the same datasets, by the way in which those are read. */
import type { BlockRange } from '@chainstead/core';
import type { BackfillOptions } from './backfill.ts';
import type { ChunkSizing } from './chunk-size.ts';
import { missingCoverage } from './coverage.ts';
import type { Dataset } from './dataset.ts';
import { belowKept, type CoveredRange, listCoveredOrOld, readKeptFrom } from './kept-from.ts';
import { BLOCK_PARTS, type BlockPart, deepestPart, partsOf } from './whole-block.ts';

/** What of the backfill's options its plan depends on. */
export type Planned = Pick<BackfillOptions, 'chain' | 'database' | 'datasets' | 'keep' | 'kind' | 'order' | 'proof'>;

/** One stretch that lacks the same datasets throughout. */
export interface Stretch {
  readonly range: BlockRange;
  readonly datasets: readonly Dataset[];
}

/**
 * What is to be read of the ranges, in order: what is read by filtered logs first, traces last.
 * @param besides what counts as done besides
 */
export async function planStretches(
  options: Planned,
  ranges: readonly BlockRange[],
  besides: readonly CoveredRange[] = [],
): Promise<Stretch[]> {
  const coverage = [...(await listDone(options)), ...besides];
  return readTogether(options).flatMap((datasets) =>
    inOrder(
      options,
      ranges.flatMap((range) => stretchesWithout(coverage, { range, datasets })),
    ),
  );
}

/**
 * The datasets that the same reads serve, those with the lightest first: filtered logs where they are enough, whole blocks,
 * traces. Whoever has no traces has the rest.
 */
function readTogether({ chain, datasets, proof }: Planned): readonly (readonly Dataset[])[] {
  const wayOf = (dataset: Dataset): BlockPart => {
    const part = deepestPart(dataset, chain);
    return part === 'transactions' && proof === 'receipts' && reads.logs !== undefined ? 'logs' : part;
  };
  const reads = Object.groupBy(datasets, (dataset) => deepestPart(dataset, chain));
  const together = Map.groupBy(datasets, wayOf);
  return BLOCK_PARTS.flatMap((part) => {
    const some = together.get(part);
    return some === undefined ? [] : [some];
  });
}

/** What is not to be read: what is covered, unless that is redone; and old blocks whose rows are not kept. */
async function listDone(
  { chain, database, datasets, keep, kind }: Planned,
  within?: BlockRange,
): Promise<readonly CoveredRange[]> {
  if (kind === 'add') return listCoveredOrOld(database, { chain, datasets, keep }, within);
  return belowKept(datasets, await readKeptFrom(database, { chain, keep }));
}

/** What of the stretch is not covered. */
function stretchesWithout(coverage: readonly CoveredRange[], { range, datasets }: Stretch): Stretch[] {
  const names = datasets.map((dataset) => dataset.name);
  return missingCoverage(range, names, coverage).map((part) => ({
    range: part.range,
    datasets: datasets.filter((dataset) => part.datasets.includes(dataset.name)),
  }));
}

/** What is still to be done of a chunk: all of it when covered blocks are redone, else what is not covered by now. */
export async function notDone(options: Planned, { datasets }: Stretch, range: BlockRange): Promise<Stretch[]> {
  return stretchesWithout(await listDone(options, range), { range, datasets });
}

export function inOrder<Part extends Pick<Stretch, 'range'>>(
  options: Pick<Planned, 'order'>,
  parts: readonly Part[],
): Part[] {
  const sign = options.order === 'newest-first' ? -1 : 1;
  return parts.toSorted((a, b) => sign * (a.range.from - b.range.from));
}

/** Whether whole blocks are read for the datasets, not filtered logs. */
export function isReadWhole({ chain, proof }: Planned, datasets: readonly Dataset[]): boolean {
  return proof === 'receipts' || !partsOf(datasets, chain).has('logs');
}

/** Cuts a stretch into chunks of the size that the density asks for at that moment, from the end that comes first. */
export function* chunksOf(
  options: Pick<BackfillOptions, 'order'>,
  range: BlockRange,
  sizing: Pick<ChunkSizing, 'next'>,
): Generator<BlockRange> {
  let { from, to } = range;
  while (from <= to) {
    const size = sizing.next();
    if (options.order === 'newest-first') {
      const start = Math.max(from, to - size + 1);
      yield { from: start, to };
      to = start - 1;
    } else {
      const end = Math.min(to, from + size - 1);
      yield { from, to: end };
      from = end + 1;
    }
  }
}

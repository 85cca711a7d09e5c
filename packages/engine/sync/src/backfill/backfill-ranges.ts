import { type BlockRange, mergeRanges } from '@chainstead/core';
import { missingCoverage } from '../coverage/coverage.ts';
import { type CoveredRange, listCoveredOrOld, notNeeded, readRetainedFrom } from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { BLOCK_PARTS, type BlockPart, deepestPart, partsOf } from '../dataset/whole-block.ts';
import type { ChunkSizing } from '../read/chunk-size.ts';
import type { BackfillOptions } from './backfill-options.ts';

export type Planned = Pick<
  BackfillOptions,
  'chain' | 'database' | 'datasets' | 'retention' | 'kind' | 'order' | 'proof' | 'sources'
> & {
  /** Nodes fail to trace these blocks: other datasets don't wait for that. @default false */
  readonly readsTracesApart?: boolean;
};

export interface BackfillRange {
  readonly range: BlockRange;
  readonly datasets: readonly Dataset[];
}

export async function planRanges(
  options: Planned,
  ranges: readonly BlockRange[],
  alsoDone: readonly CoveredRange[] = [],
): Promise<BackfillRange[]> {
  const coverage = [...(await listDone(options)), ...alsoDone];
  return readTogether(options).flatMap((datasets) =>
    inOrder(
      options,
      ranges.flatMap((range) => rangesWithout(coverage, { range, datasets })),
    ),
  );
}

/** Not indexed in any of the datasets, in order. */
export async function missingRanges(
  options: Omit<Planned, 'kind' | 'order' | 'sources'>,
  ranges: readonly BlockRange[],
): Promise<BlockRange[]> {
  const datasets = datasetsOf(options.chain, options.datasets);
  const spans = await planRanges({ ...options, datasets, kind: 'add', order: 'oldest-first' }, ranges);
  return mergeRanges(spans.map(({ range }) => range));
}

/** A whole block is read once for all datasets, except traces if a source has the rest. Lightest first. */
export function readTogether({
  chain,
  datasets,
  proof,
  sources,
  readsTracesApart = sources !== undefined,
}: Pick<
  Planned,
  'chain' | 'datasets' | 'proof' | 'sources' | 'readsTracesApart'
>): readonly (readonly Dataset[])[] {
  const wayOf = (dataset: Dataset): Way => {
    const part = deepestPart(dataset, chain);
    if (part === 'logs') return proof === 'none' && dataset.anyTopic?.(chain) === true ? 'logsOfEmitters' : part;
    if (part === 'internalTransactions' && readsTracesApart) return part;
    return proof === 'receipts' && reads.logs !== undefined ? 'logs' : 'transactions';
  };
  const reads = Object.groupBy(datasets, (dataset) => deepestPart(dataset, chain));
  const together = Map.groupBy(datasets, wayOf);
  return WAYS.map((way) => together.get(way)).filter((datasets) => datasets !== undefined);
}

const WAYS = ['logs', 'logsOfEmitters', 'transactions', 'internalTransactions'] as const;
type Way = (typeof WAYS)[number];

async function listDone(
  { chain, database, datasets, retention, kind }: Planned,
  within?: BlockRange,
): Promise<readonly CoveredRange[]> {
  if (kind === 'add') return listCoveredOrOld(database, { chain, datasets, retention }, within);
  return notNeeded(chain, datasets, await readRetainedFrom(database, { chain, retention }));
}

function rangesWithout(coverage: readonly CoveredRange[], { range, datasets }: BackfillRange): BackfillRange[] {
  const names = datasets.map((dataset) => dataset.name);
  return missingCoverage(range, names, coverage).map((part) => ({
    range: part.range,
    datasets: datasets.filter((dataset) => part.datasets.includes(dataset.name)),
  }));
}

export async function notDone(
  options: Planned,
  { datasets }: BackfillRange,
  range: BlockRange,
): Promise<BackfillRange[]> {
  return rangesWithout(await listDone(options, range), { range, datasets });
}

export function inOrder<Part extends Pick<BackfillRange, 'range'>>(
  options: Pick<Planned, 'order'>,
  parts: readonly Part[],
): Part[] {
  const sign = options.order === 'newest-first' ? -1 : 1;
  return parts.toSorted((a, b) => sign * (a.range.from - b.range.from));
}

export function deepestPartOf({ chain }: Pick<Planned, 'chain'>, datasets: readonly Dataset[]): BlockPart {
  const parts = partsOf(datasets, chain);
  return BLOCK_PARTS.findLast((part) => parts.has(part)) ?? 'logs';
}

export function isReadWhole(
  { chain, proof }: Pick<Planned, 'chain' | 'proof'>,
  datasets: readonly Dataset[],
): boolean {
  return proof === 'receipts' || !partsOf(datasets, chain).has('logs');
}

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

import type { BlockRange } from '@chainstead/core';

/** `from` inclusive, `to` exclusive. */
export interface PartitionBounds {
  readonly from: number;
  readonly to: number;
}

/** 4-byte integers. A partition with this upper bound is open above. */
export const PARTITION_TOP = 2 ** 31 - 1;

export interface RowDensity {
  readonly rows: number;
  readonly blocks: number;
}

/** Statements open every partition of a chain, so large chains get fewer, larger ones. */
const PARTITIONS_PER_CHAIN = 24;
/** Times the blocks with known density: a single block may be unusual. */
const TRUSTED_FACTOR = 1_000;

/** In blocks, by the density of the blocks to be written and of nearby partitions. */
export function partitionWidth(
  { rows, blocks }: RowDensity,
  size: { readonly rowsPerPartition: number; readonly rowsOfChain: number },
): number {
  const wanted = Math.max(size.rowsPerPartition, size.rowsOfChain / PARTITIONS_PER_CHAIN);
  const width = Math.floor((wanted * Math.max(1, blocks)) / (rows + 1));
  return Math.max(1, Math.min(width, Math.max(1, blocks) * TRUSTED_FACTOR, PARTITION_TOP));
}

/** Scattered single rows could each need another partition. `highest`: block of the chain. */
export function sparseWidth(width: number, highest: number): number {
  return Math.max(width, Math.ceil(highest / PARTITIONS_PER_CHAIN));
}

/** Ascending, next to existing ones: a backfill in either direction fills them one by one. */
export function planPartitions(
  existing: readonly PartitionBounds[],
  wanted: readonly BlockRange[],
  width: number,
): readonly PartitionBounds[] {
  const all = [...existing];
  const planned: PartitionBounds[] = [];
  for (const run of wanted)
    for (let block = run.from; block <= run.to; ) {
      const holding = all.find(({ from, to }) => from <= block && block < to);
      if (holding === undefined) {
        const made = partitionFor(block, gapAround(all, block), width);
        planned.push(made);
        all.push(made);
        block = made.to;
      } else block = holding.to;
    }
  return planned.toSorted((a, b) => a.from - b.from);
}

interface GapBetweenPartitions extends PartitionBounds {
  readonly hasBelow: boolean;
  readonly hasAbove: boolean;
}

function gapAround(all: readonly PartitionBounds[], block: number): GapBetweenPartitions {
  const below = all.reduce((highest, { to }) => (to <= block ? Math.max(highest, to) : highest), 0);
  const above = all.reduce((lowest, { from }) => (from > block ? Math.min(lowest, from) : lowest), PARTITION_TOP);
  return { from: below, to: above, hasBelow: below > 0, hasAbove: above < PARTITION_TOP };
}

function partitionFor(block: number, gap: GapBetweenPartitions, width: number): PartitionBounds {
  const start = startOf(block, gap, width);
  const from = Math.max(gap.from, start);
  const to = Math.min(gap.to, start + width);
  return {
    from: from - gap.from < width / 4 ? gap.from : from,
    to: gap.to - to < width / 4 ? gap.to : to,
  };
}

function startOf(block: number, gap: GapBetweenPartitions, width: number): number {
  const fromBelow = gap.hasBelow ? block - gap.from : Number.POSITIVE_INFINITY;
  const fromAbove = gap.hasAbove ? gap.to - 1 - block : Number.POSITIVE_INFINITY;
  const isNear = Math.min(fromBelow, fromAbove) < width;
  if (isNear && fromAbove < fromBelow) return gap.to - Math.ceil((gap.to - block) / width) * width;
  if (isNear) return gap.from + Math.floor((block - gap.from) / width) * width;
  return Math.floor(block / width) * width;
}

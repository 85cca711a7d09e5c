/** Where the partitions of a table lie that are to hold some blocks. Pure. */
import type { BlockRange } from '@chainstead/core';

/** Heights of a partition: `from` inclusive, `to` exclusive. */
export interface PartitionBounds {
  readonly from: number;
  readonly to: number;
}

/** Heights are integers of 4 bytes in partitioned tables; a partition that reaches here is open above. */
export const PARTITION_TOP = 2 ** 31 - 1;

/** What was seen of how many rows blocks have. */
export interface RowDensity {
  readonly rows: number;
  readonly blocks: number;
}

/** Statements open each partition of a chain, so that a chain with very many rows has larger ones, and few. */
const PARTITIONS_PER_CHAIN = 24;
/** A partition spans no more blocks than this many times those of which the density is known: a block alone may be an unusual one. */
const TRUSTED_FACTOR = 1_000;

/**
 * Blocks that a new partition should span, from what is known of the chain's rows.
 * @param density of the blocks that are to be written and of partitions that lie nearby
 * @param size rows of a partition at least, and those that the table holds of the chain already
 */
export function partitionWidth(
  { rows, blocks }: RowDensity,
  size: { readonly rowsPerPartition: number; readonly rowsOfChain: number },
): number {
  const wanted = Math.max(size.rowsPerPartition, size.rowsOfChain / PARTITIONS_PER_CHAIN);
  const width = Math.floor((wanted * Math.max(1, blocks)) / (rows + 1));
  return Math.max(1, Math.min(width, Math.max(1, blocks) * TRUSTED_FACTOR, PARTITION_TOP));
}

/**
 * Blocks that a partition for a history's single rows should span: they say nothing of the rows that may come beside them, and lie anywhere,
 * so that each could want a partition of its own.
 * @param width by what is known of partitions nearby
 * @param highest block of the chain that has a place, or wants one
 */
export function sparseWidth(width: number, highest: number): number {
  return Math.max(width, Math.ceil(highest / PARTITIONS_PER_CHAIN));
}

/**
 * The partitions that are missing for blocks to have a place, ascending. They lie beside existing ones, so that a history that is
 * read in either direction fills them one after the other; where there is none nearby, at multiples of the width.
 * @param existing of the chain, ascending and disjoint
 * @param wanted runs of blocks
 */
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
  // What would be left of the gap is no partition of its own when it is a sliver.
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

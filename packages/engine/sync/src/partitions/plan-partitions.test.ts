import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PARTITION_TOP, type PartitionBounds, partitionWidth, planPartitions } from './read-partitions.ts';

const block = fc.integer({ min: 0, max: 5_000 });
const run = fc
  .tuple(block, fc.integer({ min: 0, max: 300 }))
  .map(([from, length]) => ({ from, to: from + length }));
const width = fc.integer({ min: 1, max: 400 });

function isDisjoint(partitions: readonly PartitionBounds[]): boolean {
  const sorted = partitions.toSorted((a, b) => a.from - b.from);
  return sorted.every(({ from, to }, index) => from < to && to <= (sorted[index + 1]?.from ?? PARTITION_TOP));
}

function holds(partitions: readonly PartitionBounds[], number: number): boolean {
  return partitions.some(({ from, to }) => from <= number && number < to);
}

/** Creates partitions for one chunk after another. */
function fill(chunks: readonly { from: number; to: number }[], blocksEach: number): readonly PartitionBounds[] {
  let all: readonly PartitionBounds[] = [];
  for (const chunk of chunks)
    all = [...all, ...planPartitions(all, [chunk], blocksEach)].toSorted((a, b) => a.from - b.from);
  return all;
}

describe('planPartitions', () => {
  it('gives every wanted block a place, and overlaps nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.array(run, { maxLength: 5 }), width), { maxLength: 6 }), (steps) => {
        let all: readonly PartitionBounds[] = [];
        for (const [wanted, blocksEach] of steps) {
          all = [...all, ...planPartitions(all, wanted, blocksEach)];
          expect(isDisjoint(all)).toBe(true);
          for (const { from, to } of wanted)
            for (const number of [from, to]) expect(holds(all, number)).toBe(true);
        }
      }),
    );
  });

  it('makes none where there is a place already', () => {
    expect(planPartitions([{ from: 0, to: 100 }], [{ from: 10, to: 99 }], 10)).toEqual([]);
  });

  it.each(['ascending', 'descending'])(
    'fills a history of %s chunks with one partition after the other',
    (order) => {
      const chunks = Array.from({ length: 200 }, (_, index) => ({
        from: 10_000 + index * 50,
        to: 10_049 + index * 50,
      }));
      const all = fill(order === 'ascending' ? chunks : chunks.toReversed(), 1_000);
      expect(all.length).toBeLessThanOrEqual(12);
      expect(all.every(({ from, to }) => to - from >= 250 && to - from <= 1_500)).toBe(true);
      // A gap between them would need another partition for a later block.
      expect(all.slice(1).every(({ from }, index) => from === all[index]?.to)).toBe(true);
    },
  );

  it('goes on beside a neighbour, and takes a sliver that would be left along', () => {
    expect(planPartitions([{ from: 0, to: 100 }], [{ from: 105, to: 110 }], 50)).toEqual([
      { from: 100, to: 150 },
    ]);
    expect(planPartitions([{ from: 200, to: 300 }], [{ from: 190, to: 195 }], 50)).toEqual([
      { from: 150, to: 200 },
    ]);
    expect(
      planPartitions(
        [
          { from: 100, to: 155 },
          { from: 210, to: 300 },
        ],
        [{ from: 155, to: 160 }],
        50,
      ),
    ).toEqual([{ from: 155, to: 210 }]);
  });

  it('has room up to the highest number that a height can be', () => {
    expect(planPartitions([], [{ from: PARTITION_TOP - 2, to: PARTITION_TOP - 1 }], 100).at(-1)?.to).toBe(
      PARTITION_TOP,
    );
  });
});

describe('partitionWidth', () => {
  const size = { rowsPerPartition: 4_000_000, rowsOfChain: 0 };

  it('spans as many blocks as hold the rows of a partition', () => {
    const blocks = partitionWidth({ rows: 400_000, blocks: 1_000 }, size);
    expect(blocks).toBeGreaterThan(9_990);
    expect(blocks).toBeLessThanOrEqual(10_000);
  });

  it('trusts one block no further than a thousand', () => {
    expect(partitionWidth({ rows: 0, blocks: 1 }, size)).toBe(1_000);
    expect(partitionWidth({ rows: 3, blocks: 1 }, size)).toBe(1_000);
  });

  it('grows with the chain, so that partitions stay few', () => {
    const density = { rows: 400_000, blocks: 1_000 };
    const grown = partitionWidth(density, { ...size, rowsOfChain: 960_000_000 });
    expect(grown / partitionWidth(density, size)).toBeCloseTo(10, 1);
  });

  it('is at least one block', () => {
    expect(partitionWidth({ rows: 9_000_000, blocks: 1 }, size)).toBe(1);
  });
});

import { type BlockRange, intersectRanges, mergeRanges, rangeSize } from '@chainstead/core';
import type { ChainFacts } from '../overview/read-overview.ts';

/** The coverage of a dataset, of one chain. */
export interface CoverageRow {
  readonly chain: string;
  readonly dataset: string;
  readonly unit: 'blocks' | 'versions';
  /** Blocks from the start of history to the checkpoint. */
  readonly wanted: number;
  /** The wanted blocks that lack the dataset. */
  readonly missing: number;
  /** The covered fraction, 0 to 1. */
  readonly part: number;
  /** The fraction of covered blocks proven by receipts or a second node, 0 to 1; null without coverage. */
  readonly proven: number | null;
  readonly ranges: number;
  /** From the first to the last covered block; null if there is none. */
  readonly span: BlockRange | null;
}

const PROVEN: ReadonlySet<string> = new Set(['receipts', 'cross']);

/** Pure. Returns every dataset that a chain has or partly lacks, by name. */
export function coverageRows(facts: ChainFacts): CoverageRow[] {
  const { card, status } = facts;
  const whole = card.history?.range ?? null;
  const wanted = whole === null ? 0 : Math.max(0, rangeSize(whole));
  const names = new Set([...status.coverage, ...status.gaps].map(({ dataset }) => dataset));
  return [...names].toSorted().map((dataset) => {
    const covered = status.coverage.filter((one) => one.dataset === dataset).map(({ range }) => range);
    const missing = sizeOf(status.gaps.filter((gap) => gap.dataset === dataset).map(({ range }) => range));
    const inAll = sizeOf(covered);
    const [first, last] = [covered[0], covered.at(-1)];
    return {
      chain: card.name,
      dataset,
      unit: card.unit,
      wanted,
      missing,
      part: wanted === 0 ? 0 : (wanted - missing) / wanted,
      proven: inAll === 0 ? null : sizeOf(provenRanges(facts, dataset)) / inAll,
      ranges: covered.length,
      span: first === undefined || last === undefined ? null : { from: first.from, to: last.to },
    };
  });
}

function provenRanges({ kind, card, status }: ChainFacts, dataset: string): readonly BlockRange[] {
  if (kind === 'evm')
    return status.coverage.filter((one) => one.dataset === dataset && PROVEN.has(one.proof)).map(({ range }) => range);
  // On Aptos, agreement of two fullnodes is stored for all datasets together.
  const agreed = (card.history?.levels ?? []).filter(({ level }) => level === 'cross').map(({ range }) => range);
  const covered = status.coverage.filter((one) => one.dataset === dataset).map(({ range }) => range);
  return intersectRanges(mergeRanges(covered), mergeRanges(agreed));
}

function sizeOf(ranges: readonly BlockRange[]): number {
  return ranges.reduce((sum, range) => sum + rangeSize(range), 0);
}

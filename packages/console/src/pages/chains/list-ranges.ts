import type { BlockRange } from '@chainstead/core';
import type { StripLevel } from '../overview/coverage-strip.ts';
import type { ChainFacts } from '../overview/read-overview.ts';

/** A range of one dataset, whole, also where only a part of it was asked for. */
export interface ListedRange {
  readonly dataset: string;
  readonly range: BlockRange;
  readonly level: StripLevel;
  /** Who gave it, or why it is not proven. */
  readonly note: string | null;
}

/** The ranges that share blocks with the one asked for, what is missing among them, by dataset and block. */
export function listRanges({ kind, card, status }: ChainFacts, asked: BlockRange): ListedRange[] {
  const gaps = status.gaps.map(({ dataset, range }) => ({ dataset, range, level: 'missing' as const, note: null }));
  const covered =
    kind === 'evm'
      ? status.coverage.map(({ dataset, range, proof, reason, upstream }) => {
          return { dataset, range, level: proof, note: reason ?? upstream };
        })
      : status.coverage.map(({ dataset, range }) => ({
          dataset,
          range,
          level: levelAt(card.history, range),
          note: null,
        }));
  return [...covered, ...gaps]
    .filter(({ range }) => range.from <= asked.to && asked.from <= range.to)
    .toSorted((one, other) => one.dataset.localeCompare(other.dataset) || one.range.from - other.range.from);
}

/** Of the weakest part: what two fullnodes agree on ends somewhere in a range. */
function levelAt(history: ChainFacts['card']['history'], range: BlockRange): StripLevel {
  const isAgreed = history?.levels.some(
    (one) => one.level === 'cross' && one.range.from <= range.from && range.to <= one.range.to,
  );
  return isAgreed === true ? 'cross' : 'none';
}
